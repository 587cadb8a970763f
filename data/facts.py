"""The facts behind the generated corpus: who, where and what. No grammar, no chance.

Tables are text so that they can be read and edited as tables. A row starts at the margin with its key words, one a
column; indented lines add fields, ``name: item; item``, several on a line parted by ``|``. Country facts are facts;
everything else is a small invented world with English words. Nothing here is meant as a full account of anything.
"""

from __future__ import annotations

Row = dict[str, str | list[str]]


def table(columns: str, text: str) -> list[Row]:
    """Return the rows of a table written as text: key words by column name, fields as lists of strings.

    Raises ValueError if a row has not one word for each column.
    """
    names, rows = columns.split(), []
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            rows.append(dict(zip(names, line.split(), strict=True)))
            continue
        for part in line.split("|"):
            name, items = part.split(":")
            rows[-1][name.strip()] = [item.strip() for item in items.split(";")]
    return rows


# Roles that come in a male and a female form. at: where they are; thing: what they have to do with; did: what they
# did; do: the same as infinitives; folk: the company they keep (plural).
ROLES = table("m f", """
king queen
  at: in the palace; at court; in the throne room; in the royal castle | thing: crown; throne; sceptre; royal seal
  did: ruled the kingdom for many years; signed the peace treaty; wore the golden crown; sat on the throne
  do: rule the kingdom; reign over the realm; wear the crown | folk: subjects; ministers; courtiers; nobles; knights
prince princess
  at: in the palace; in the castle tower; at the royal ball | thing: royal tutor; white pony; small crown; ring
  did: was heir to the throne; danced at the royal ball; fled from the castle; learned to fence and to ride
  do: inherit the kingdom; marry for love; leave the castle | folk: courtiers; tutors; royal guests; guards
duke duchess
  at: on the country estate; in the manor; in the old manor house | thing: carriage; estate; coat of arms; stables
  did: owned half the county; gave a hunting party; rode out in a carriage; let the estate fall into debt
  do: host the hunt; sell the estate; buy the manor | folk: tenants; nobles; footmen; coachmen; huntsmen
emperor empress
  at: in the imperial city; in the marble hall; at the imperial court | thing: empire; imperial robe; army; fleet
  did: sent an army over the mountains; conquered three provinces; built a great wall; ruled a vast empire
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
  at: on the stage; at the theatre; in the film studio | thing: role; script; film; final scene; part in a comedy
  did: played the leading role; forgot the lines of the second act; won a prize for the film; bowed to the audience
  do: play the part; learn the lines; rehearse the scene | folk: audiences; critics; directors; dancers; fans
waiter waitress
  at: at the restaurant; in the café; by the corner table | thing: menu; tray; bill; tip; coffee pot
  did: brought the menu and two glasses; took the order; carried six plates on one arm; spilled soup on a guest
  do: take the order; serve the soup; bring the bill | folk: diners; hungry guests; cooks; customers
monk nun
  at: in the abbey; in the quiet cloister; in the chapel | thing: prayer book; candle; psalm; rosary; holy relic
  did: prayed before sunrise; copied the psalms by candlelight; kept a vow of silence; rang the bell for prayers
  do: pray in silence; light the candles; keep the vow | folk: pilgrims; novices; believers; the poor
steward stewardess
  at: on the night flight; in the cabin of the plane; on board the liner | thing: seat belt; trolley; life jacket
  did: checked every seat belt; handed out blankets and headphones; served tea during the flight; calmed a passenger
  do: help the passengers; push the trolley; close the cabin door | folk: passengers; pilots; crews; travellers
landlord landlady
  at: in the boarding house; at the inn; on the ground floor | thing: rent; lease; spare key; upstairs room
  did: raised the rent again; let the attic to a student; asked the lodger for the rent; kept the spare keys
  do: collect the rent; mend the roof; let the rooms | folk: lodgers; tenants; students; guests
father mother
  at: at home; in the kitchen; by the cradle; at the school gate | thing: family; baby; lullaby; pram; children
  did: put the children to bed; sang a lullaby to the baby; made sandwiches for the children; raised a large family
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
  at: in the seaside cottage; at the family reunion; in the guest room | thing: birthday card; parcel; old sofa
  did: sent a parcel for Christmas; came to stay for the holidays; spoiled the children; told jokes at the reunion
  do: visit for the holidays; send a parcel; spoil the children | folk: cousins; relatives; godchildren; in-laws
nephew niece
  at: at the birthday party; at the zoo; on the merry-go-round | thing: birthday present; balloon; toy train; kite
  did: came for a week in the holidays; unwrapped the birthday presents; blew out the candles; asked for ice cream
  do: visit the zoo; unwrap the presents; stay for the holidays | folk: cousins; godparents; relatives; clowns
grandfather grandmother
  at: in the rocking chair; by the stove; in the care home | thing: rocking chair; walking stick; spectacles
  did: told stories of the old days; dozed in the rocking chair; lost the spectacles again; remembered the war
  do: tell stories; doze by the stove; find the spectacles | folk: grandchildren; old friends; pensioners; nurses
boy girl
  at: in the playground; in the classroom; on the swing; at school | thing: toy; skipping rope; marble; satchel
  did: played in the playground; did the homework; climbed over the fence; was late for school; caught a tadpole
  do: play in the yard; ride a bicycle; do the homework | folk: classmates; playmates; pupils; teachers
man woman
  at: on the street; at the bus stop; in the waiting room; in the crowd | thing: suitcase; umbrella; newspaper
  did: waited at the bus stop; read the newspaper on a bench; carried two heavy bags; asked a stranger the way
  do: catch the bus; cross the street; find work | folk: strangers; people; neighbours; workmates
groom bride
  at: at the altar; in front of the church; at the registry office | thing: bouquet; wedding cake; wedding ring
  did: cut the wedding cake; said yes at the altar; was late for the wedding; danced the first waltz
  do: cut the cake; say yes; dance the waltz | folk: wedding guests; bridesmaids; witnesses; in-laws
""")

# What goes with he and with she: names, clothes, looks, forms of address.
GENDER = table("he him his himself sir", """
he him his himself sir
  name: Henry; Thomas; Edward; Oscar; Hugo; Peter; Martin; Samuel; Walter; Felix; George; Albert; José; Björn
  wear: waistcoat; tie; tunic; cap; top hat; braces; bow tie; trousers
  look: grey beard; moustache; bald head; deep voice; broad shoulders; bushy eyebrows; long sideburns
  kin: gentleman; fellow; chap; lad
she her her herself madam
  name: Anna; Clara; Emma; Rosa; Helen; Sophie; Martha; Julia; Alice; Nora; Lucy; Ingrid; Zoë; Chloé
  wear: dress; gown; skirt; blouse; bonnet; shawl; petticoat; apron
  look: long braids; pearl necklace; golden earrings; red lips; dark curls; silk veil; bracelet
  kin: lass; maiden; dame; damsel
""")

# land, capital, people's adjective, a language, coin, coins.
COUNTRIES = table("land city adj lang coin coins", """
France Paris French French euro euros
  see: the Seine; the Louvre; the vineyards of Burgundy | make: champagne; perfume; soft cheese
  eat: onion soup; croissants; baguettes | name: Pierre; Élodie; François
Germany Berlin German German euro euros
  see: the Spree; the Brandenburg Gate; the Black Forest | make: cars; beer; machine tools
  eat: sausages; sauerkraut; rye bread | name: Jürgen; Käthe; Dieter
Italy Rome Italian Italian euro euros
  see: the Tiber; the Colosseum; the hills of Tuscany | make: shoes; olive oil; sports cars
  eat: pasta; risotto; pizza | name: Giulia; Marco; Paolo
Spain Madrid Spanish Spanish euro euros
  see: the Prado; the Pyrenees; the plains of Castile | make: sherry; oranges; guitars
  eat: paella; tapas; gazpacho | name: Íñigo; Lucía; Carlos
Portugal Lisbon Portuguese Portuguese euro euros
  see: the Tagus; the Algarve; the hills of Alfama | make: cork; port wine; painted tiles
  eat: grilled sardines; custard tarts; salted cod | name: João; Inês; Rui
Greece Athens Greek Greek euro euros
  see: the Acropolis; the Parthenon; the Aegean | make: olives; feta; marble
  eat: moussaka; stuffed peppers; honey cakes | name: Nikos; Eleni; Yannis
Ireland Dublin Irish Irish euro euros
  see: the Liffey; the Shannon; the cliffs of Moher | make: whiskey; butter; linen
  eat: lamb stew; soda bread; oysters | name: Seán; Aoife; Niamh
Finland Helsinki Finnish Finnish euro euros
  see: the Baltic; the lakes of Saimaa; Lapland | make: paper; glass bowls; birch furniture
  eat: rye pies; salmon soup; cloudberries | name: Päivi; Matti; Aino
Austria Vienna Austrian German euro euros
  see: the Prater; the Tyrol; the opera house | make: skis; crystal glass; violins
  eat: schnitzel; strudel; dumplings | name: Franz; Liesl; Leopold
England London English English pound pounds
  see: the Thames; Big Ben; the moors of Yorkshire | make: wool; cider; bone china
  eat: fish and chips; roast beef; scones | name: Nigel; Daphne; Percy
Poland Warsaw Polish Polish zloty zlotys
  see: the Vistula; the Tatra peaks; the salt caves of Wieliczka | make: coal; amber; glass ornaments
  eat: beetroot soup; pierogi; poppy cakes | name: Łukasz; Małgorzata; Stanisław
Hungary Budapest Hungarian Hungarian forint forints
  see: the Danube; Lake Balaton; the thermal baths | make: paprika; sweet wine; buses
  eat: goulash; cherry soup; chimney cakes | name: István; Zsófia; Béla
Bulgaria Sofia Bulgarian Bulgarian lev leva
  see: the Balkans; the Rila monastery; the Valley of Roses | make: rose oil; yoghurt; tobacco
  eat: banitsa; white cheese; cold cucumber soup | name: Dimitar; Radka; Ivaylo
Sweden Stockholm Swedish Swedish krona kronor
  see: Gotland; the archipelago; the Vasa | make: steel; matches; flat furniture
  eat: meatballs; crispbread; cinnamon buns | name: Göran; Åsa; Sven
Norway Oslo Norwegian Norwegian krone kroner
  see: the fjords; the Lofoten islands; Trondheim | make: oil; fishing boats; knitted jumpers
  eat: brown cheese; stockfish; waffles | name: Øystein; Solveig; Håkon
Russia Moscow Russian Russian ruble rubles
  see: the Volga; the Kremlin; the Urals | make: rockets; gas; vodka
  eat: borscht; blini; caviar | name: Dmitri; Svetlana; Boris
Ukraine Kyiv Ukrainian Ukrainian hryvnia hryvnias
  see: the Dnipro; the Carpathians; Odesa | make: sunflower oil; barley; embroidery
  eat: varenyky; garlic rolls; buckwheat | name: Taras; Oksana; Bohdan
Turkey Ankara Turkish Turkish lira liras
  see: the Bosphorus; Cappadocia; Anatolia | make: carpets; hazelnuts; copper pots
  eat: kebabs; baklava; lentil soup | name: Çağla; Mehmet; Ayşe
Egypt Cairo Egyptian Arabic pound pounds
  see: the Nile; the pyramids; the Sphinx | make: papyrus; dates; soft cotton
  eat: broad beans; flatbread; koshari | name: Mahmoud; Fatima; Youssef
Morocco Rabat Moroccan Tamazight dirham dirhams
  see: the Atlas; the Sahara; the souks of Fez | make: leather; slippers; argan oil
  eat: couscous; tagine; mint tea | name: Hassan; Khadija; Rachid
Nigeria Abuja Nigerian Hausa naira nairas
  see: the Niger; Lagos; the Zuma rock | make: crude oil; films; palm oil
  eat: jollof rice; pounded yam; fried plantain | name: Chinua; Ngozi; Emeka
Ghana Accra Ghanaian Twi cedi cedis
  see: Lake Volta; Kumasi; the old slave forts | make: cocoa; gold; woven kente
  eat: fufu; banku; groundnut soup | name: Kwame; Akosua; Kofi
Kenya Nairobi Kenyan Swahili shilling shillings
  see: the Rift Valley; Mombasa; the Masai Mara | make: coffee; cut flowers; soapstone
  eat: ugali; roast goat; collard greens | name: Wanjiru; Kamau; Otieno
India Delhi Indian Hindi rupee rupees
  see: the Ganges; the Taj Mahal; the Himalayas | make: silk; spices; software
  eat: curry; chapatis; chutney | name: Priya; Rahul; Anjali
Bangladesh Dhaka Bangladeshi Bengali taka takas
  see: the Padma; the Sundarbans; Chittagong | make: jute; shirts; river boats
  eat: hilsa; rice pudding; mustard fish | name: Rahima; Kamal; Shirin
Thailand Bangkok Thai Thai baht bahts
  see: the Chao Phraya; Phuket; the floating market | make: rubber; jasmine rice; teak
  eat: green curry; papaya salad; sticky rice | name: Somchai; Malee; Niran
Vietnam Hanoi Vietnamese Vietnamese dong dongs
  see: the Red River; the Mekong; Ha Long Bay | make: lacquer; pepper; conical hats
  eat: noodle soup; spring rolls; rice paper | name: Nguyễn; Linh; Thảo
Indonesia Jakarta Indonesian Indonesian rupiah rupiahs
  see: Java; Bali; the volcanoes of Sumatra | make: batik; nutmeg; cloves
  eat: satay; fried rice; tempeh | name: Dewi; Budi; Wayan
Japan Tokyo Japanese Japanese yen yen
  see: Mount Fuji; Kyoto; the cherry trees of Ueno | make: cameras; robots; kimonos
  eat: sushi; ramen; miso soup | name: Haruki; Yōko; Kenji
China Beijing Chinese Chinese yuan yuan
  see: the Yangtze; the Great Wall; the Forbidden City | make: tea; porcelain; toys
  eat: dumplings; roast duck; steamed buns | name: Xiùyīng; Wei; Meiling
Mongolia Ulaanbaatar Mongolian Mongolian tugrik tugriks
  see: the Gobi; the Altai; the open steppe | make: cashmere; felt; saddles
  eat: mutton broth; dried curds; milk tea | name: Batbayar; Oyuun; Ganzorig
Iran Tehran Iranian Persian rial rials
  see: the Caspian; Isfahan; the gardens of Shiraz | make: saffron; pistachios; rugs
  eat: saffron rice; pomegranates; kebabs | name: Shirin; Dariush; Parviz
Peru Lima Peruvian Quechua sol soles
  see: the Andes; Machu Picchu; Lake Titicaca | make: alpaca wool; copper; silver
  eat: ceviche; quinoa; purple corn | name: Túpac; Mercedes; Ramón
""")

# one, many, young, its young, what it does aloud (he, past), home. food and trait are fields; a dash is no word.
ANIMALS = table("a as young youngs sound cried home", """
dog dogs puppy puppies barks barked kennel
  food: bones; biscuits; scraps of meat | trait: loyal; faithful; obedient | part: wet nose; leash; wagging tail
cat cats kitten kittens meows meowed basket
  food: mice; cream; tinned fish | trait: sleek; lazy; curious | part: whiskers; velvet paws; green eyes
cow cows calf calves moos mooed byre
  food: clover; hay; fresh grass | trait: placid; spotted; brown | part: udder; horns; milk
horse horses foal foals neighs neighed stable
  food: oats; carrots; hay | trait: proud; nervous; chestnut | part: mane; saddle; hooves
sheep sheep lamb lambs bleats bleated fold
  food: short grass; turnips; heather | trait: woolly; timid; shorn | part: fleece; wool; black face
pig pigs piglet piglets grunts grunted sty
  food: potato peels; acorns; swill | trait: fat; pink; muddy | part: snout; curly tail; trotters
hen hens chick chicks clucks clucked coop
  food: corn; grit; crumbs | trait: speckled; broody; plump | part: eggs; comb; feathers
duck ducks duckling ducklings quacks quacked pond
  food: duckweed; snails; stale bread | trait: waddling; mallard; splashing | part: flat bill; webbed feet; down
goose geese gosling goslings honks honked marsh
  food: stubble; wet grass; grain | trait: angry; noisy; grey | part: long neck; quill; wings
swan swans cygnet cygnets hisses hissed lake
  food: water plants; reeds; pondweed | trait: graceful; white; silent | part: curved neck; plumage; wings
bear bears cub cubs growls growled den
  food: honey; salmon; berries | trait: shaggy; brown; huge | part: claws; thick fur; paws
deer deer fawn fawns bellows bellowed glade
  food: bark; buds; leaves | trait: shy; swift; graceful | part: antlers; hooves; spotted coat
wolf wolves whelp whelps howls howled lair
  food: elk; hares; carrion | trait: grey; hungry; lone | part: fangs; yellow eyes; pack
eagle eagles eaglet eaglets screeches screeched eyrie
  food: hares; trout; snakes | trait: soaring; golden; keen | part: talons; hooked beak; wings
owl owls owlet owlets hoots hooted hollow
  food: voles; beetles; shrews | trait: wise; tawny; nocturnal | part: round eyes; pellets; soft feathers
frog frogs tadpole tadpoles croaks croaked swamp
  food: flies; gnats; worms | trait: slimy; green; leaping | part: sticky tongue; spawn; webbed toes
kangaroo kangaroos joey joeys thumps thumped outback
  food: dry grass; shrubs; herbs | trait: red; bounding; tall | part: pouch; strong tail; hind legs
pigeon pigeons squab squabs coos cooed loft
  food: seeds; crumbs; peas | trait: homing; grey; tame | part: message ring; wings; feathers
bee bees larva larvae hums hummed hive
  food: nectar; pollen; syrup | trait: busy; striped; buzzing | part: sting; wax; honeycomb
goat goats kid kids snorts snorted shed
  food: thistles; twigs; paper bags | trait: stubborn; bearded; nimble | part: horns; beard; bell
""")

# one, many, place, tool. did: what they did; stuff: what they deal with.
TRADES = table("p ps place tool", """
doctor doctors hospital stethoscope
  did: examined the patient; wrote a prescription; set the broken leg | stuff: patients; fevers; medicine; pills
teacher teachers school chalk
  did: marked the homework; taught the class to spell; wrote on the blackboard | stuff: pupils; lessons; exams
judge judges courtroom gavel
  did: heard the witness; sent the thief to prison; read out the verdict | stuff: trials; lawyers; verdicts; crimes
baker bakers bakery oven
  did: kneaded the dough; sold fresh rolls; dusted the loaves with flour | stuff: bread; dough; flour; cakes; yeast
farmer farmers farm plough
  did: sowed the wheat; milked the cows; brought in the harvest | stuff: crops; wheat; fields; cattle; barley
cook cooks kitchen ladle
  did: stirred the soup; chopped the onions; tasted the sauce | stuff: sauces; soup; onions; pots and pans
priest priests church bible
  did: read the sermon; blessed the congregation; baptised the child | stuff: sermons; hymns; prayers; sinners
sailor sailors ship anchor
  did: hoisted the sails; climbed the mast; scrubbed the deck | stuff: sails; ropes; storms at sea; decks
miner miners pit pickaxe
  did: dug for coal; went down the shaft; loaded the wagons | stuff: coal; ore; shafts; wagons; dust
pilot pilots cockpit headset
  did: landed the plane in fog; read the instruments; flew over the clouds | stuff: planes; runways; instruments
librarian librarians library catalogue
  did: stamped the books; sorted the shelves; whispered to the readers | stuff: novels; shelves; readers; old books
scientist scientists laboratory microscope
  did: made an experiment; measured the cells; proved the theory | stuff: experiments; theories; cells; data
mechanic mechanics garage spanner
  did: repaired the engine; changed the tyres; drained the oil | stuff: engines; brakes; tyres; gearboxes
gardener gardeners greenhouse spade
  did: watered the tomatoes; pruned the roses; planted bulbs | stuff: roses; seedlings; weeds; hedges; bulbs
butcher butchers slaughterhouse cleaver
  did: cut the ribs; minced the beef; hung up the hams | stuff: beef; chops; hams; bacon; carcasses
barber barbers salon razor
  did: trimmed the fringe; lathered the chin; swept up the hair | stuff: haircuts; shaves; hair oil; combs
blacksmith blacksmiths forge anvil
  did: hammered the red iron; shod the mare; made a gate of iron | stuff: horseshoes; iron; sparks; hinges
tailor tailors workshop needle
  did: sewed on the buttons; took in the jacket; measured the sleeves | stuff: suits; cloth; buttons; seams
painter painters studio brush
  did: mixed the colours; sketched a portrait; finished the canvas | stuff: canvases; portraits; colours; easels
potter potters pottery kiln
  did: shaped the wet clay; glazed the bowls; fired the jugs | stuff: clay; jugs; bowls; glazes; vases
carpenter carpenters sawmill hammer
  did: sawed the planks; made a table of oak; drove in the nails | stuff: planks; nails; oak boards; cupboards
astronomer astronomers observatory telescope
  did: discovered a comet; mapped the stars; watched the eclipse | stuff: planets; comets; stars; galaxies
fisherman fishermen harbour net
  did: caught herring; gutted the cod; rowed out at dawn | stuff: herring; cod; boats; hooks; lobsters
soldier soldiers barracks rifle
  did: marched all night; guarded the bridge; obeyed the order | stuff: battles; orders; drills; uniforms
photographer photographers darkroom camera
  did: developed the film; changed the lens; took a group picture | stuff: pictures; lenses; negatives; albums
violinist violinists orchestra bow
  did: tuned the strings; played a sonata; practised the scales | stuff: sonatas; concerts; strings; melodies
lawyer lawyers office briefcase
  did: drew up the contract; questioned the clerk; filed the papers | stuff: contracts; lawsuits; clients; papers
astronaut astronauts rocket spacesuit
  did: floated without weight; circled the moon; mended the satellite | stuff: orbits; satellites; the moon; space
""")

# base, past, -ing, third person. how: what follows the verb (place, object); adv: manner.
VERBS = table("v past ing s", """
walk walked walking walks
  how: along the canal; through the park; on the gravel path; for miles; across the meadow | adv: slowly; barefoot
run ran running runs
  how: up the stairs; after the bus; round the track; down the hill; out of breath | adv: fast; swiftly
swim swam swimming swims
  how: across the bay; in the cold pool; under water; to the raft; twenty lengths | adv: strongly; backwards
climb climbed climbing climbs
  how: up the ladder; on to the roof; over the wall; the steep cliff; the old pear tree | adv: nimbly; higher
sing sang singing sings
  how: a sad song; in the choir; an old ballad; a duet; a carol | adv: softly; off key
write wrote writing writes
  how: a long letter; a poem; in the diary; a novel; with a fountain pen; a postcard | adv: neatly; daily
read read reading reads
  how: a thick book; the newspaper; a fairy tale; the first chapter; the instructions | adv: aloud; silently
eat ate eating eats
  how: a bowl of soup; two plums; a cheese sandwich; lunch; the whole pie; breakfast | adv: greedily; hungrily
drink drank drinking drinks
  how: a cup of tea; cold lemonade; a glass of milk; from the tap; hot cocoa | adv: thirstily; noisily
cook cooked cooking cooks
  how: a pot of stew; dinner for six; the beans; over the fire; rice with peas | adv: well; without salt
paint painted painting paints
  how: the fence; a landscape; the kitchen walls; in oils; the shutters blue | adv: carelessly; boldly
dance danced dancing dances
  how: a tango; at the ball; to the music; round the bonfire; the polka | adv: wildly; gracefully
sleep slept sleeping sleeps
  how: in a tent; on the sofa; until noon; under a quilt; like a log | adv: soundly; badly
play played playing plays
  how: chess; the piano; hide and seek; a game of cards; tennis; football | adv: fairly; happily
work worked working works
  how: in the factory; overtime; night shifts; at the desk; for low wages | adv: hard; tirelessly
travel travelled travelling travels
  how: by train; round the world; to distant islands; with a rucksack; abroad | adv: light; alone
build built building builds
  how: a raft; a stone bridge; a snowman; a shed; a nest of twigs | adv: cleverly; cheaply
drive drove driving drives
  how: a lorry; to the coast; the old van; along the motorway; a tractor | adv: recklessly; carefully
speak spoke speaking speaks
  how: on the phone; to the crowd; about politics; at the meeting; with an accent | adv: frankly; loudly
teach taught teaching teaches
  how: a class of beginners; algebra; evening courses; children to swim; history | adv: patiently; privately
throw threw throwing throws
  how: a pebble; the ball; a stick into the water; a snowball; the dice | adv: far; overarm
buy bought buying buys
  how: a loaf; new shoes; two tickets; a second-hand car; vegetables; a birthday gift | adv: cheaply; impulsively
sell sold selling sells
  how: old books; ice cream; the house; raffle tickets; insurance; home-made jam | adv: quickly; online
dig dug digging digs
  how: a ditch; for potatoes; a deep hole; the garden; up old coins | adv: deeply; in vain
laugh laughed laughing laughs
  how: at the joke; until it hurt; at the clown; out loud; behind the curtain | adv: merrily; nervously
wash washed washing washes
  how: the dishes; the muddy shirts; behind the ears; the windows; the lorry | adv: thoroughly; by hand
fight fought fighting fights
  how: against the invaders; for freedom; with wooden swords; in the alley; the fire | adv: bravely; fiercely
think thought thinking thinks
  how: about the future; of a plan; over the riddle; about the past; twice | adv: deeply; logically
""")

# positive, comparative, superlative. of: nouns it fits.
ADJECTIVES = table("q er est", """
big bigger biggest
  of: elephant; whale; crowd; truck; hall
small smaller smallest
  of: pebble; ant; seed; crumb; doll
tall taller tallest
  of: poplar; skyscraper; giraffe; chimney; lighthouse
long longer longest
  of: queue; caterpillar; corridor; speech; rope
short shorter shortest
  of: nap; pencil; story; haircut; detour
old older oldest
  of: ruin; oak; wine; chapel; manuscript
young younger youngest
  of: recruit; sapling; student; couple; athlete
fast faster fastest
  of: cheetah; express train; motorbike; rocket; sprinter
slow slower slowest
  of: snail; tortoise; tram; turtle; waltz
cold colder coldest
  of: winter; cellar; blizzard; glacier; wind
warm warmer warmest
  of: blanket; stove; evening; jumper; breeze
dark darker darkest
  of: cave; tunnel; forest; cloud; alley
bright brighter brightest
  of: lamp; star; flame; mirror; lantern
heavy heavier heaviest
  of: trunk; piano; sack; anvil; boulder
light lighter lightest
  of: feather; balsa box; paper plane; leaf; parcel
rich richer richest
  of: merchant; banker; oil baron; owner; landowner
poor poorer poorest
  of: beggar; orphan; peasant; widow; district
strong stronger strongest
  of: ox; wrestler; current; rope; storm
weak weaker weakest
  of: signal; pulse; excuse; coffee; plank
deep deeper deepest
  of: well; ocean; gorge; trench; wound
high higher highest
  of: summit; cliff; peak; kite; waterfall
cheap cheaper cheapest
  of: ticket; bargain; hostel; toy; radio
loud louder loudest
  of: trumpet; drum; siren; thunder; cheer
sweet sweeter sweetest
  of: honey; melon; pudding; syrup; grape
hard harder hardest
  of: steel; granite; exam; diamond; puzzle
soft softer softest
  of: pillow; moss; cushion; fur; wool
""")

# one, many. is: how it is; do: what people do with it; at: where it is.
THINGS = table("o os", """
apple apples
  is: red; crisp; sour | do: peel; bake; pick | at: in the orchard; in the fruit bowl
pear pears
  is: juicy; ripe; green | do: poach; slice; pick | at: on the tree; in the orchard
plum plums
  is: purple; ripe; sticky | do: stew; dry; stone | at: in the jam; in the crate
potato potatoes
  is: muddy; floury; boiled | do: peel; mash; fry | at: in the cellar; in the sack
carrot carrots
  is: orange; crunchy; raw | do: grate; chop; pull up | at: in the stew; in the vegetable bed
egg eggs
  is: fried; fresh; brown | do: boil; crack; beat | at: in the nest; in the pan
loaf loaves
  is: crusty; warm; fresh | do: slice; bake; toast | at: on the bread board; in the oven
book books
  is: thick; dusty; borrowed | do: read; print; lend | at: on the shelf; in the library
letter letters
  is: anonymous; sealed; long | do: post; open; answer | at: in the envelope; in the post box
chair chairs
  is: wooden; broken; comfortable | do: move; paint; fold | at: at the table; round the stove
table tables
  is: round; oak; polished | do: lay; clear; wipe | at: in the dining room; on the terrace
window windows
  is: open; steamed up; dirty | do: open; clean; shut | at: in the attic; above the door
door doors
  is: locked; heavy; creaking | do: shut; open; slam | at: at the end of the corridor; in the hall
house houses
  is: empty; brick; haunted | do: rent; build; sell | at: on the hill; in the suburb
car cars
  is: shiny; second-hand; parked | do: drive; wash; park | at: in the garage; on the motorway
boat boats
  is: leaking; wooden; small | do: row; moor; sail | at: in the harbour; on the lake
train trains
  is: crowded; late; rusty | do: miss; catch; board | at: at the station; on platform two
bridge bridges
  is: narrow; stone; famous | do: cross; repair; guard | at: over the canal; across the gorge
tree trees
  is: hollow; bare; shady | do: plant; fell; climb | at: in the forest; by the path
flower flowers
  is: wilted; yellow; wild | do: pick; water; press | at: in the vase; in the meadow
shoe shoes
  is: worn; muddy; tight | do: polish; lace; mend | at: under the bed; in the box
hat hats
  is: felt; straw; silly | do: wear; brush; lose | at: on the peg; in the cloakroom
coin coins
  is: silver; rare; worn | do: toss; count; collect | at: in the purse; in the fountain
key keys
  is: rusty; spare; tiny | do: turn; lose; hide | at: in the lock; under the mat
knife knives
  is: sharp; blunt; folding | do: sharpen; dry; hand over | at: in the drawer; beside the plate
cup cups
  is: chipped; empty; china | do: fill; rinse; stir | at: on the saucer; in the cupboard
bottle bottles
  is: green; empty; sealed | do: cork; fill; shake | at: in the wine cellar; in the crate
lamp lamps
  is: dim; brass; flickering | do: light; switch on; dust | at: on the desk; above the table
clock clocks
  is: ticking; grandfather; wrong | do: wind; set; repair | at: on the mantelpiece; in the hall
leaf leaves
  is: dry; yellow; fallen | do: rake; sweep; press | at: on the lawn; in the gutter
""")

# A word with several senses, and words that go with each: a test of what one row for each word can hold.
SENSES = {
    "bank": ("money", "river"), "mole": ("animal", "chemistry", "skin"), "bat": ("animal", "sport"),
    "spring": ("season", "water", "metal"), "crane": ("bird", "machine"), "seal": ("animal", "wax"),
    "tower": ("building", "toy"), "match": ("sport", "fire"), "pitcher": ("sport", "jug"), "ring": ("jewel", "sport"),
}

FIRST = "Ash Bramble Crow Dun Elder Fern Gold Hazel Iron Kettle Lamb Marl Nettle Oak Penny Quarry Raven Stone Thorn"
LAST = "bridge bury by combe dale field ford ham hurst ley mere mouth stead thorpe ton wick worth"
VILLAGES = [a + b for a in FIRST.split() for b in LAST.split()]
"""Place names for the long tail: each is drawn evenly, so most occur a few times only."""
