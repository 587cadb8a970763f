"""The facts behind the generated corpus: who, where and what. No grammar, no chance.

Tables are text so that they can be read and edited as tables. A row starts at the margin with its key words, one a
column; fields follow, ``name: item; item``, parted by ``|`` or on indented lines; a line that starts with ``=`` gives
fields to all rows below it. Country facts are facts; everything else is a small invented world.
"""

from __future__ import annotations

Row = dict[str, str | list[str]]


def table(columns: str, text: str) -> list[Row]:
    """Return the rows of a table written as text: key words by column name, fields as lists of strings.

    Raises ValueError if a row has not one word for each column.
    """
    names, rows, shared = columns.split(), [], {}
    for line in text.strip().splitlines():
        parts = line.strip(" =").split("|")
        if line[0] not in " =":
            rows.append(dict(zip(names, parts.pop(0).split(), strict=True)) | shared)
        target = shared if line[0] == "=" else rows[-1]
        for part in parts:
            name, items = part.split(":")
            target[name.strip()] = [item.strip() for item in items.split(";")]
    return rows


# Roles that come in a male and a female form. at: where they are; thing: what they have to do with; did: what they
# did; do: the same as infinitives; folk: the company they keep (plural).
ROLES = table(
    "m f",
    """
king queen
  at: in the palace; at court; in the throne room; in the royal castle | thing: crown; throne; sceptre; royal seal
  did: ruled the kingdom for many years; signed the peace treaty; wore the golden crown; sat on the throne
  do: rule the kingdom; reign over the realm; wear the crown | folk: subjects; ministers; courtiers; nobles; knights
prince princess
  at: in the palace; in the castle tower; at the royal ball | thing: royal tutor; white pony; small crown; ring
  did: was heir to the throne; appeared at the royal ball; fled from the castle; learned to fence and to ride
  do: inherit the kingdom; marry for love; leave the castle | folk: courtiers; tutors; royal guests; guards
duke duchess
  at: on the country estate; in the manor; in the old manor house | thing: carriage; estate; coat of arms; stables
  did: owned half the county; gave a hunting party; rode out in a carriage; let the estate fall into debt
  do: host the hunt; mortgage the estate; restore the manor | folk: tenants; nobles; footmen; coachmen; huntsmen
emperor empress
  at: in the imperial city; in the marble hall; at the imperial court | thing: empire; imperial robe; army; fleet
  did: sent an army over the mountains; conquered three provinces; raised a great wall; ruled a vast empire
  do: conquer the provinces; rule the empire; command the fleet | folk: generals; legions; governors; slaves
wizard witch
  at: in the dark wood; in a crooked hut; in the enchanted forest | thing: spell; potion; magic wand; crystal ball
  did: cast a spell on the village; stirred a green potion; turned a toad into stone; vanished in a cloud of smoke
  do: cast a spell; brew a potion; break the curse | folk: toads; ravens; goblins; dragons; dwarfs
hero heroine
  at: in the last chapter; in the legend; on the battlefield | thing: sword; legend; shield; brave deed
  did: slew the dragon; saved the village from the giant; found the lost treasure; swore to avenge the dead
  do: slay the dragon; save the village; find the treasure | folk: dragons; giants; enemies; outlaws; warriors
god goddess
  at: on the holy mountain; in the temple; in the old myth | thing: temple; altar; sacrifice; thunderbolt
  did: sent thunder and floods; was worshipped in the temple; made the first people out of clay; ruled the sea
  do: punish the proud; bless the harvest; calm the storm | folk: worshippers; mortals; spirits; giants
actor actress
  at: on the stage; at the theatre; on the film set | thing: role; script; film; final scene; part in a comedy
  did: had the leading role; forgot the lines of the second act; won a prize for the film; bowed to the audience
  do: act the part; learn the lines; rehearse the scene | folk: audiences; critics; directors; dancers; fans
waiter waitress
  at: at the restaurant; in the café; by the corner table | thing: menu; tray; bill; tip; coffee pot
  did: brought the menu and two glasses; took the order; carried six plates on one arm; spilled soup on a guest
  do: take the order; serve the soup; bring the bill | folk: diners; hungry guests; cooks; customers
monk nun
  at: in the abbey; in the quiet cloister; in the chapel | thing: prayer book; candle; psalm; rosary; holy relic
  did: prayed before sunrise; copied the psalms by candlelight; kept a vow of silence; rang the bell for prayers
  do: pray in silence; light the candles; keep the vow | folk: pilgrims; novices; believers; the poor
father mother
  at: at home; in the nursery; by the cradle; at the school gate | thing: family; baby; lullaby; pram; children
  did: put the children to bed; hummed a lullaby to the baby; made sandwiches for the children; raised a large family
  do: feed the baby; wake the children; bring up a family | folk: children; babies; toddlers; twins; parents
husband wife
  at: in their new flat; at the wedding; on their honeymoon | thing: marriage; wedding ring; vow; anniversary
  did: forgot the wedding anniversary; agreed to a divorce; was happily married; kept the wedding photographs
  do: renew the vows; save the marriage; plan the honeymoon | folk: in-laws; neighbours; wedding guests; couples
brother sister
  at: in the bunk bed; in the shared bedroom; in the tree house | thing: bunk bed; secret; pocket money; bicycle
  did: shared a bedroom with the twins; quarrelled over the toys; was two years older; told tales to the parents
  do: share the toys; keep the secret; borrow the bicycle | folk: siblings; cousins; twins; playmates
son daughter
  at: at college; in the family firm; in the nursery | thing: inheritance; college fees; school report; christening
  did: was the youngest of five children; inherited the family firm; left home for college; made the parents proud
  do: finish college; inherit the firm; leave home | folk: parents; siblings; teachers; heirs
uncle aunt
  at: in the seaside cottage; at the family reunion; in the guest room | thing: birthday card; parcel; holiday cottage
  did: sent a parcel for Christmas; came to stay for the holidays; spoiled the children; told jokes at the reunion
  do: visit for the holidays; send a parcel; spoil the children | folk: cousins; relatives; godchildren; in-laws
nephew niece
  at: at the birthday party; at the zoo; on the merry-go-round | thing: birthday present; balloon; toy train; kite
  did: came for a week in the holidays; unwrapped the birthday presents; blew out the candles; asked for ice cream
  do: visit the zoo; unwrap the presents; stay for the holidays | folk: cousins; godparents; relatives; clowns
grandfather grandmother
  at: in the rocking chair; by the stove; in the care home | thing: rocking chair; walking stick; spectacles
  did: told stories of long ago; dozed in the rocking chair; lost the spectacles again; remembered the war
  do: tell stories; doze by the stove; find the spectacles | folk: grandchildren; visitors; pensioners; nurses
boy girl
  at: in the playground; in the classroom; on the swing; at school | thing: toy; skipping rope; marble; satchel
  did: fell off the swing; did the homework; jumped over the fence; was late for school; caught a tadpole
  do: skip in the yard; ride a bicycle; do the homework | folk: classmates; playmates; pupils; teachers
man woman
  at: on the street; at the bus stop; in the waiting room; in the crowd | thing: suitcase; umbrella; newspaper
  did: waited at the bus stop; folded the newspaper on a bench; carried two heavy bags; asked a stranger the way
  do: catch the bus; cross the street; find work | folk: strangers; people; neighbours; workmates
groom bride
  at: at the altar; in front of the church; at the registry office | thing: bouquet; wedding cake; wedding ring
  did: cut the wedding cake; said yes at the altar; was late for the wedding; led the first waltz
  do: cut the cake; say yes; open the waltz | folk: wedding guests; bridesmaids; witnesses; in-laws
""",
)

# What goes with he and with she: names, clothes, looks, forms of address.
GENDER = table(
    "he him his himself sir",
    """
he him his himself sir
  name: Henry; Thomas; Edward; Oscar; Hugo; Peter; Martin; Samuel; Walter; Felix; George; Albert; José; Björn
  wear: waistcoat; tie; tunic; cap; top hat; bow tie; doublet; tailcoat
  look: a grey beard; a moustache; a bald head; a deep voice; broad shoulders; bushy eyebrows; long sideburns
  kin: gentleman; fellow; chap; lad
she her her herself madam
  name: Anna; Clara; Emma; Rosa; Helen; Sophie; Martha; Julia; Alice; Nora; Lucy; Ingrid; Zoë; Chloé
  wear: dress; gown; skirt; blouse; bonnet; shawl; petticoat; apron
  look: long braids; a pearl necklace; golden earrings; red lips; dark curls; a silk veil; a thin bracelet
  kin: lass; maiden; dame; damsel
""",
)

# land, capital, people's adjective, a language, coin, coins.
COUNTRIES = table(
    "land city adj lang coin coins",
    """
= region: western Europe; Europe
France Paris French French euro euros
  see: the Seine; the Louvre; the vineyards of Burgundy | make: champagne; perfume; soft cheese
  eat: onion soup; croissants; baguettes | he: Pierre; François | she: Élodie
Germany Berlin German German euro euros
  see: the Spree; the Brandenburg Gate; the Black Forest | make: cars; beer; machine tools
  eat: sausages; sauerkraut; rye bread | he: Jürgen; Dieter | she: Käthe
England London English English pound pounds
  see: the Thames; Big Ben; the moors of Yorkshire | make: wool; cider; bone china
  eat: fish and chips; roast beef; scones | he: Nigel; Percy | she: Daphne
Ireland Dublin Irish Irish euro euros
  see: the Liffey; the Shannon; the cliffs of Moher | make: whiskey; butter; linen
  eat: lamb stew; soda bread; oysters | he: Seán | she: Aoife; Niamh
= region: southern Europe; the Mediterranean
Italy Rome Italian Italian euro euros
  see: the Tiber; the Colosseum; the hills of Tuscany | make: shoes; olive oil; sports cars
  eat: pasta; risotto; pizza | he: Marco; Paolo | she: Giulia
Spain Madrid Spanish Spanish euro euros
  see: the Prado; the Pyrenees; the plains of Castile | make: sherry; oranges; guitars
  eat: paella; tapas; gazpacho | he: Íñigo; Carlos | she: Lucía
Portugal Lisbon Portuguese Portuguese euro euros
  see: the Tagus; the Algarve; the hills of Alfama | make: cork; port wine; patterned tiles
  eat: grilled sardines; custard tarts; salted cod | he: João; Rui | she: Inês
Greece Athens Greek Greek euro euros
  see: the Acropolis; the Parthenon; the Aegean | make: olives; feta; marble
  eat: moussaka; stuffed peppers; honey cakes | he: Nikos; Yannis | she: Eleni
= region: eastern Europe; central Europe
Poland Warsaw Polish Polish zloty zlotys
  see: the Vistula; the Tatra peaks; the salt caves of Wieliczka | make: coal; amber; glass ornaments
  eat: beetroot soup; pierogi; poppy cakes | he: Łukasz; Stanisław | she: Małgorzata
Hungary Budapest Hungarian Hungarian forint forints
  see: the Danube; Lake Balaton; the thermal baths | make: paprika; sweet wine; buses
  eat: goulash; cherry soup; chimney cakes | he: István; Béla | she: Zsófia
Russia Moscow Russian Russian ruble rubles
  see: the Volga; the Kremlin; the Urals | make: rockets; gas; vodka
  eat: borscht; blini; caviar | he: Dmitri; Boris | she: Svetlana
Ukraine Kyiv Ukrainian Ukrainian hryvnia hryvnias
  see: the Dnipro; the Carpathians; Odesa | make: sunflower oil; barley; embroidery
  eat: varenyky; garlic rolls; buckwheat | he: Taras; Bohdan | she: Oksana
= region: northern Europe; Scandinavia
Sweden Stockholm Swedish Swedish krona kronor
  see: Gotland; the archipelago; the Vasa | make: steel; matches; flat furniture
  eat: meatballs; crispbread; cinnamon buns | he: Göran; Sven | she: Åsa
Norway Oslo Norwegian Norwegian krone kroner
  see: the fjords; the Lofoten islands; Trondheim | make: oil; fishing boats; knitted jumpers
  eat: brown cheese; stockfish; waffles | he: Øystein; Håkon | she: Solveig
= region: western Asia; the Middle East
Turkey Ankara Turkish Turkish lira liras
  see: the Bosphorus; Cappadocia; Anatolia | make: carpets; hazelnuts; copper pots
  eat: kebabs; baklava; lentil soup | he: Mehmet | she: Çağla; Ayşe
Iran Tehran Iranian Persian rial rials
  see: the Caspian; Isfahan; the gardens of Shiraz | make: saffron; pistachios; rugs
  eat: saffron rice; pomegranates; kebabs | he: Dariush; Parviz | she: Shirin
= region: North Africa; the Arab world
Egypt Cairo Egyptian Arabic pound pounds
  see: the Nile; the pyramids; the Sphinx | make: papyrus; dates; soft cotton
  eat: broad beans; flatbread; koshari | he: Mahmoud; Youssef | she: Fatima
Morocco Rabat Moroccan Tamazight dirham dirhams
  see: the Atlas; the Sahara; the souks of Fez | make: leather; slippers; argan oil
  eat: couscous; tagine; mint tea | he: Hassan; Rachid | she: Khadija
= region: Africa; tropical Africa
Nigeria Abuja Nigerian Hausa naira nairas
  see: the Niger; Lagos; the Zuma rock | make: crude oil; films; palm oil
  eat: jollof rice; pounded yam; fried plantain | he: Chinua; Emeka | she: Ngozi
Ghana Accra Ghanaian Twi cedi cedis
  see: Lake Volta; Kumasi; the old slave forts | make: cocoa; gold; woven kente
  eat: fufu; banku; groundnut soup | he: Kwame; Kofi | she: Akosua
Kenya Nairobi Kenyan Swahili shilling shillings
  see: the Rift Valley; Mombasa; the Masai Mara | make: coffee; cut flowers; soapstone
  eat: ugali; roast goat; collard greens | he: Kamau; Otieno | she: Wanjiru
= region: South Asia; the monsoon lands
India Delhi Indian Hindi rupee rupees
  see: the Ganges; the Taj Mahal; the Himalayas | make: silk; spices; software
  eat: curry; chapatis; chutney | he: Rahul | she: Priya; Anjali
Bangladesh Dhaka Bangladeshi Bengali taka takas
  see: the Padma; the Sundarbans; Chittagong | make: jute; shirts; river boats
  eat: hilsa; rice pudding; mustard fish | he: Kamal | she: Rahima; Shirin
= region: East Asia; Asia
Japan Tokyo Japanese Japanese yen yen
  see: Mount Fuji; Kyoto; the cherry trees of Ueno | make: cameras; robots; kimonos
  eat: sushi; ramen; miso soup | he: Haruki; Kenji | she: Yōko
China Beijing Chinese Chinese yuan yuan
  see: the Yangtze; the Great Wall; the Forbidden City | make: tea; porcelain; toys
  eat: dumplings; roast duck; steamed buns | he: Wei | she: Xiùyīng; Meiling
Mongolia Ulaanbaatar Mongolian Mongolian tugrik tugriks
  see: the Gobi; the Altai; the open steppe | make: cashmere; felt; saddles
  eat: mutton broth; dried curds; milk tea | he: Batbayar; Ganzorig | she: Oyuun
= region: Southeast Asia; the tropics
Vietnam Hanoi Vietnamese Vietnamese dong dongs
  see: the Red River; the Mekong; Ha Long Bay | make: lacquer; pepper; conical hats
  eat: noodle soup; spring rolls; rice paper | he: Nguyễn | she: Linh; Thảo
Indonesia Jakarta Indonesian Indonesian rupiah rupiahs
  see: Java; Bali; the volcanoes of Sumatra | make: batik; nutmeg; cloves
  eat: satay; fried rice; tempeh | he: Budi; Wayan | she: Dewi
= region: South America; Latin America
Peru Lima Peruvian Quechua sol soles
  see: the Andes; Machu Picchu; Lake Titicaca | make: alpaca wool; copper; silver
  eat: ceviche; quinoa; purple corn | he: Túpac; Ramón | she: Mercedes
""",
)

# one, many, its young, many young, what it does aloud (now and then), home. feed: what it eats; live: where.
ANIMALS = table(
    "a as young youngs sound cried home",
    """
= live: in the yard; on the sofa; with children
dog dogs puppy puppies barks barked kennel
  feed: bones; biscuits; scraps of meat | nature: loyal; tame; obedient | part: a wet nose; a leash; a wagging tail
cat cats kitten kittens meows meowed basket
  feed: mice; cream; scraps of meat | nature: sleek; tame; curious | part: whiskers; velvet paws; green eyes
= live: in the farmyard; behind the barn; in the field
cow cows calf calves moos mooed byre
  feed: clover; hay; fresh grass | nature: placid; spotted; brown | part: a full udder; horns; warm milk
horse horses foal foals neighs neighed stable
  feed: oats; carrots; hay | nature: proud; brown; chestnut | part: a mane; a saddle; hooves
sheep sheep lamb lambs bleats bleated fold
  feed: short grass; turnips; hay | nature: woolly; timid; shorn | part: a fleece; thick wool; a black face
pig pigs piglet piglets grunts grunted sty
  feed: potato peels; acorns; swill | nature: fat; pink; muddy | part: a snout; a curly tail; trotters
hen hens chick chicks clucks clucked coop
  feed: corn; grit; crumbs | nature: speckled; broody; fat | part: brown eggs; a red comb; ruffled feathers
= live: on the water; among the reeds; by the shore
duck ducks duckling ducklings quacks quacked pond
  feed: duckweed; snails; stale bread | nature: waddling; mallard; splashing | part: a bill; webbed feet; yellow down
goose geese gosling goslings honks honked marsh
  feed: stubble; wet grass; grain | nature: angry; noisy; grey | part: a long neck; quills; wings
swan swans cygnet cygnets hisses hissed lake
  feed: water plants; wet grass; duckweed | nature: graceful; white; silent | part: a curved neck; white plumage; wings
frog frogs tadpole tadpoles croaks croaked swamp
  feed: flies; gnats; worms | nature: slimy; green; leaping | part: a sticky tongue; spawn; webbed toes
= live: in the mountains; deep in the forest; in the wild
bear bears cub cubs growls growled den
  feed: honey; salmon; berries | nature: shaggy; hungry; huge | part: claws; thick fur; sharp teeth
deer deer fawn fawns bellows bellowed glade
  feed: bark; buds; leaves | nature: shy; swift; graceful | part: antlers; hooves; a spotted coat
wolf wolves whelp whelps howls howled lair
  feed: elk; salmon; carrion | nature: grey; hungry; lone | part: fangs; sharp teeth; yellow eyes
kangaroo kangaroos joey joeys thumps thumped outback
  feed: dry grass; shrubs; herbs | nature: red; bounding; tall | part: a pouch; a strong tail; hind legs
= live: in the air; on the rooftops; in the treetops
eagle eagles eaglet eaglets screeches screeched eyrie
  feed: hares; trout; snakes | nature: soaring; golden; keen | part: talons; a hooked beak; wings
owl owls owlet owlets hoots hooted hollow
  feed: voles; hares; shrews | nature: keen; tawny; nocturnal | part: round eyes; an old pellet; soft feathers
pigeon pigeons squab squabs coos cooed loft
  feed: seeds; crumbs; peas | nature: homing; grey; tame | part: a message ring; wings; feathers
bee bees larva larvae hums hummed hive
  feed: nectar; pollen; syrup | nature: busy; striped; buzzing | part: a sting; wax; a honeycomb
""",
)

# one, many, place, tool. work: what they did; stuff: what they deal with.
TRADES = table(
    "p ps place tool",
    """
doctor doctors hospital stethoscope
  work: examined the patient; signed a prescription; set the broken leg | stuff: patients; fevers; medicine; pills
teacher teachers school chalk
  work: marked the homework; helped the class to spell; wiped the blackboard | stuff: pupils; lessons; exams
judge judges courtroom gavel
  work: heard the witness; sent the thief to prison; gave the verdict | stuff: trials; lawyers; verdicts; crimes
baker bakers bakery oven
  work: kneaded the dough; offered fresh rolls; dusted the loaves with flour | stuff: bread; dough; flour; cakes; yeast
farmer farmers farm plough
  work: sowed the wheat; milked the cows; brought in the harvest | stuff: crops; wheat; fields; cattle; barley
cook cooks kitchen ladle
  work: stirred the soup; chopped the onions; tasted the sauce | stuff: sauces; soup; onions; pots and pans
priest priests church bible
  work: gave the sermon; blessed the congregation; baptised the child | stuff: sermons; hymns; prayers; sinners
sailor sailors ship anchor
  work: hoisted the sails; mended the mast; scrubbed the deck | stuff: sails; ropes; storms at sea; decks
miner miners pit pickaxe
  work: searched for coal; went down the shaft; loaded the wagons | stuff: coal; ore; shafts; wagons; dust
pilot pilots cockpit headset
  work: landed the plane in fog; checked the instruments; flew over the clouds | stuff: planes; runways; instruments
librarian librarians library catalogue
  work: stamped the books; sorted the shelves; whispered to the readers | stuff: novels; shelves; readers; old books
scientist scientists laboratory microscope
  work: made an experiment; measured the cells; proved the theory | stuff: experiments; theories; cells; data
mechanic mechanics garage spanner
  work: repaired the engine; changed the tyres; drained the oil | stuff: engines; brakes; tyres; gearboxes
gardener gardeners greenhouse spade
  work: watered the tomatoes; pruned the roses; planted bulbs | stuff: roses; seedlings; weeds; hedges; bulbs
barber barbers salon razor
  work: trimmed the fringe; lathered the chin; swept up the hair | stuff: haircuts; shaves; hair oil; combs
blacksmith blacksmiths forge anvil
  work: hammered the red iron; shod the mare; made a gate of iron | stuff: horseshoes; iron; sparks; hinges
tailor tailors workshop needle
  work: sewed on the buttons; took in the jacket; measured the sleeves | stuff: suits; cloth; buttons; seams
painter painters studio brush
  work: mixed the colours; sketched a portrait; finished the canvas | stuff: canvases; portraits; colours; easels
carpenter carpenters sawmill hammer
  work: sawed the planks; made a table of oak; hammered in the nails | stuff: planks; nails; oak boards; cupboards
astronomer astronomers observatory telescope
  work: discovered a comet; mapped the stars; watched the eclipse | stuff: planets; comets; stars; galaxies
fisherman fishermen harbour net
  work: caught herring; gutted the cod; rowed out at dawn | stuff: herring; cod; boats; hooks; lobsters
soldier soldiers barracks rifle
  work: marched all night; guarded the bridge; obeyed the order | stuff: battles; orders; drills; uniforms
violinist violinists orchestra violin
  work: tuned the strings; performed a sonata; practised the scales | stuff: sonatas; concerts; strings; melodies
""",
)

# base, past, -ing, third person. how: what follows the verb (place, object); adv: manner.
VERBS = table(
    "v past ing s",
    """
walk walked walking walks
  how: along the canal; through the park; on the gravel path; for miles; across the meadow | adv: slowly; barefoot
run ran running runs
  how: up the stairs; after the bus; round the track; down the hill; out of breath | adv: fast; swiftly
swim swam swimming swims
  how: across the bay; in the cold pool; under water; to the raft; twenty lengths | adv: strongly; elegantly
climb climbed climbing climbs
  how: up the ladder; on to the roof; over the wall; the steep cliff; the old pear tree | adv: nimbly; fearlessly
sing sang singing sings
  how: a sad song; in the choir; an old ballad; a duet; a carol | adv: softly; tunelessly
write wrote writing writes
  how: a long letter; a poem; in the diary; a novel; with a fountain pen; a postcard | adv: neatly; daily
read read reading reads
  how: a thick book; the newspaper; a fairy tale; the first chapter; the instructions | adv: aloud; silently
eat ate eating eats
  how: a bowl of soup; two plums; a cheese sandwich; lunch; the whole pie; breakfast | adv: greedily; hungrily
drink drank drinking drinks
  how: a cup of tea; cold lemonade; a glass of milk; from the tap; hot cocoa | adv: thirstily; noisily
bake baked baking bakes
  how: a batch of scones; an apple tart; bread for the fair; biscuits; a birthday cake | adv: skilfully; clumsily
paint painted painting paints
  how: the fence; a landscape; the kitchen walls; in oils; the shutters blue | adv: carelessly; boldly
dance danced dancing dances
  how: a tango; at the ball; to the music; round the bonfire; the polka | adv: wildly; gracefully
sleep slept sleeping sleeps
  how: in a tent; on the sofa; until noon; under a quilt; like a log | adv: soundly; badly
play played playing plays
  how: chess; the piano; hide and seek; a game of cards; tennis; football | adv: fairly; happily
build built building builds
  how: a raft; a stone bridge; a snowman; a shed; a nest of twigs | adv: cleverly; cheaply
drive drove driving drives
  how: a lorry; to the coast; the old van; along the motorway; a tractor | adv: recklessly; carefully
teach taught teaching teaches
  how: a class of beginners; algebra; evening courses; children to swim; history | adv: patiently; privately
throw threw throwing throws
  how: a pebble; the ball; a stick into the water; a snowball; the dice | adv: wildly; straight
buy bought buying buys
  how: a loaf; new shoes; two tickets; a second-hand car; vegetables; a birthday gift | adv: cheaply; impulsively
sell sold selling sells
  how: old books; ice cream; the house; raffle tickets; insurance; home-made jam | adv: quickly; online
dig dug digging digs
  how: a ditch; for potatoes; a deep hole; the garden; up old coins | adv: tirelessly; eagerly
wash washed washing washes
  how: the dishes; the muddy shirts; behind the ears; the windows; the lorry | adv: thoroughly; briskly
""",
)

# positive, comparative, superlative. of: nouns it fits.
ADJECTIVES = table(
    "q er est",
    """
big bigger biggest | of: elephant; whale; crowd; truck; hall; balloon
small smaller smallest | of: pebble; ant; seed; crumb; doll; button
tall taller tallest | of: poplar; skyscraper; giraffe; chimney; lighthouse; pine
long longer longest | of: queue; caterpillar; corridor; speech; rope; necklace
old older oldest | of: ruin; oak; monument; chapel; manuscript; legend
young younger youngest | of: recruit; sapling; student; couple; athlete; beginner
fast faster fastest | of: cheetah; hare; motorbike; rocket; sprinter; arrow
slow slower slowest | of: snail; tortoise; donkey; turtle; waltz; canoe
cold colder coldest | of: cave lake; cellar; shower; glacier; wind; iceberg
warm warmer warmest | of: blanket; stove; evening; jumper; breeze; scarf
dark darker darkest | of: cavern; tunnel; forest; cloud; alley; shadow
bright brighter brightest | of: lamp; star; flame; mirror; lantern; comet
heavy heavier heaviest | of: trunk; piano; sack; safe; boulder; wardrobe
thick thicker thickest | of: hedge; carpet; wall; dictionary; slice; quilt
rich richer richest | of: merchant; banker; oil baron; heiress; landowner; jeweller
strong stronger strongest | of: ox; wrestler; current; chain; storm; magnet
deep deeper deepest | of: well; ocean; gorge; trench; wound; crater
cheap cheaper cheapest | of: sandal; bargain; hostel; souvenir; radio; lipstick
loud louder loudest | of: trumpet; drum; siren; explosion; cheer; alarm
sweet sweeter sweetest | of: peach; melon; pudding; cherry; grape; raisin
soft softer softest | of: pillow; mattress; cushion; slipper; sponge; feather
""",
)

# one, many. is: how it is; use: what people do with it; put: where it is.
THINGS = table(
    "o os",
    """
apple apples
  is: red; crisp; sour; rotten | use: peel; core; pick; grate | put: in the orchard; in the fruit bowl
plum plums
  is: purple; ripe; sticky; blue | use: stew; dry; stone; squash | put: in the jam jar; in the crate
potato potatoes
  is: floury; boiled; mashed; new | use: peel; mash; fry; roast | put: in the sack; in the cellar
carrot carrots
  is: orange; crunchy; raw; crooked | use: scrape; chop; plant; dice | put: in the stew; in the vegetable bed
egg eggs
  is: fried; fresh; brown; hard-boiled | use: boil; crack; beat; poach | put: in the nest; in the frying pan
loaf loaves
  is: crusty; warm; stale; floury | use: slice; bake; toast; wrap | put: on the bread board; in the oven
book books
  is: thick; dusty; borrowed; leather-bound | use: read; print; lend; translate | put: on the shelf; in the satchel
letter letters
  is: anonymous; sealed; unopened; polite | use: post; open; answer; stamp | put: in the envelope; in the post box
chair chairs
  is: wooden; wobbly; comfortable; wicker | use: move; fold; repaint; stack | put: at the table; round the stove
house houses
  is: empty; brick; haunted; whitewashed | use: rent; build; furnish; insure | put: on the hill; in the suburb
car cars
  is: shiny; second-hand; parked; electric | use: drive; wash; park; refuel | put: in the garage; on the motorway
boat boats
  is: leaking; wooden; upturned; flat | use: row; moor; sail; launch | put: at the pier; on the lake
train trains
  is: crowded; delayed; rusty; express | use: miss; catch; board; derail | put: at the station; on platform two
bridge bridges
  is: narrow; stone; arched; wooden | use: cross; repair; guard; widen | put: over the canal; across the gorge
flower flowers
  is: wilted; yellow; wild; fragrant | use: pick; water; press; arrange | put: in the vase; in the meadow
shoe shoes
  is: worn; muddy; tight; buckled | use: polish; lace; mend; lend | put: under the bed; in the shoe box
coin coins
  is: silver; rare; worn; foreign | use: toss; count; collect; spend | put: in the purse; in the fountain
key keys
  is: rusty; spare; tiny; forged | use: turn; lose; copy; hide | put: in the lock; under the mat
""",
)

FIRST = """Ash Bramble Crow Dun Elder Fern Gold Hazel Iron Kettle Lamb Marl Nettle Oak Penny Quarry Raven Stone Thorn
Alder Badger Copper Daw Ember Frost Gorse Hawk Ivy Jay Kestrel Lark Mist Otter Plover"""
LAST = "bridge bury by combe dale field ford ham hurst ley mere mouth stead thorpe ton wick worth"
VILLAGES = [a + b for a in FIRST.split() for b in LAST.split()]
"""Place names for the long tail: each is drawn evenly, so most occur a few times only."""

RARE = """
abacus alembic alpenstock antimacassar astrolabe barnacle bassoon bellwether bodkin brazier cairn calabash
calliope campanula caravel catamaran chalice chamois cobweb colander cormorant cresset cutlass damson dirigible
dulcimer ermine escutcheon farthing fetlock flagon flageolet foxglove galleon gargoyle gimlet glockenspiel
gooseberry gryphon hammock harpsichord haversack hornbeam hourglass hovel ibex inkwell javelin jerkin juniper
kaleidoscope kestrel kumquat lectern lichen lodestone lozenge mandolin marzipan mezzanine minaret moccasin
monocle nightjar nutcracker obelisk ocarina ottoman palimpsest parsnip periscope petunia pinafore plinth
poltergeist porcupine portcullis quagmire quince rapier rhubarb samovar sandalwood scabbard scullery sextant
snuffbox spinnaker stalactite sundial tabard tarpaulin thimble tinderbox toboggan topaz tourmaline trellis
turret ukulele vestibule viaduct wainscot walnut weathervane xylophone yurt zeppelin zither
""".split()  # noqa: SIM905
"""Rare words, drawn evenly: about one to six times each, so that --min-count has something to drop."""
