"""How the facts become sentences: patterns by topic, and lists that any pattern may use.

A pattern is a line. ``[a|b|]`` is a choice (here: a, b or nothing) and may nest; ``{name}`` is a word of the article's
facts, else a rule of RULES. Words drawn from one list within one sentence differ as long as the list lasts. The writer
turns the first letter into a capital and "a" into "an" where the sound wants it. Mentions: ``{X}`` is the person the
article is about, as a noun, a name or a pronoun; ``{x}`` always the noun, ``{N}`` the name, ``{he} {him} {his}`` the
pronouns. ``{M}`` is another person, with ``{he2} {him2} {his2}``.
"""

from __future__ import annotations

RULES_TEXT = """
time: in the morning | in the evening | at noon | one {season} | after supper | in {month} | on {day} | before dawn
 | at midnight | that night | the next day | in the end | for a while | after the war | when the rain stopped
 | late in the afternoon | on a {sky} day | during the {season} | once again | at last | before breakfast
ago: yesterday | last week | last {season} | two days ago | years ago | the other day | last night | last {day}
season: spring | summer | autumn | winter
month: January | February | March | April | May | June | July | August | September | October | November | December
day: Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday
sky: rainy | cloudy | sunny | stormy | misty | windy | foggy | frosty | humid | clear
num: two | three | four | five | six | seven | ten | twelve | twenty | thirty | forty | fifty | a hundred
colour: red | blue | white | black | green | yellow | brown | grey | purple | pink | scarlet | violet | beige
feel: happy | sad | tired | angry | glad | afraid | lonely | proud | worried | calm | surprised
 | jealous | bored | homesick
trait: kind | clever | brave | rich | honest | gentle | stubborn | famous | lazy | cruel | modest | cheerful | vain
 | witty | restless | absent-minded | generous | mysterious
manner: slowly | quietly | quickly | carefully | suddenly | gladly | calmly | politely | eagerly | hastily | stubbornly
where: by the river | in the village | near the market | behind the hill | at the crossroads | in the valley
 | under a tree | on the coast | beside the mill | in the next town | at the edge of the wood | near {village}
town: the market | the village | the fair | the beach | {village} | the station | the post office | the museum
food: bread and butter | soup | cheese | apple pie | fresh bread | fish | rice | a boiled egg | pancakes | porridge
 | roast chicken | a salad | beans on toast | stew | mushrooms | chocolate cake | noodles | ham | plum jam | pickles
drink: tea | coffee | milk | water | lemonade | beer | cider | cocoa | wine | apple juice | ginger ale
room: parlour | hall | bedroom | cellar | attic | bathroom | dining room | pantry | corridor
liked: liked | loved | admired | trusted | respected | envied | feared | disliked | missed
said: said | replied | whispered | shouted | answered | explained | muttered | sighed
art: sculptor | poet | singer | writer | composer | architect | dancer | chef | footballer | inventor
size: big | small | huge | tiny | little | large | enormous
idea: a plan | a bad dream | the weather | the price of {food} | a new job | the past | the war | the neighbours
 | the election | football | the harvest | a strange rumour | money | the concert | taxes
"""

PEOPLE = """
[once|long ago|in those days|some years ago] there lived a[| {trait}] {x} [called|named] {N}[| with {look}].
the[| {trait}] {x} [wore|had on|chose|liked to wear] a[| {colour}| new| shabby] {wear} and had {look}.
the {x} {did} [yesterday|{time}|once more|in spite of everything], and {he} {did}.
[{time},|it was late when|nobody saw how|in {village}] the {x} {did}[| {at}].
the {x} put on {his} {wear} and [went to {town}|left the house|looked at {himself} in the mirror|hurried out].
[everyone|nobody|half the town|{M}] [knew|had heard|remembered|said] that the {x} {did}, and [many|few] believed {him}.
“good [morning|evening|day|night], {sir},” said the {folk}, and the {x} [nodded|smiled|bowed] [{manner}|at them].
“[yes|no|of course|certainly], {sir},” {said} the {folk} when the {x} asked for {his} {thing}.
{N} wanted to be a {x} [when {he} was a child|all {his} life], [and {he}|but {he} never] {did}.
it is [not easy|hard work|a great honour|an odd life] to be a {x}: {he} must {do}[ and {do}|, like it or not].
[{his} friends|the {folk}] {liked} the {x} because {he} {did}.
the {folk} [asked|begged|told|wanted] the {x} to {do}, [but|and] {he} [refused|agreed|laughed|hesitated] {manner}.
the {x} lost {his} {thing} {where}, and the {folk} helped {him} to look for it.
what did the {x} do? {he} {did}, [that is what|of course|they say|and then {he} {did}].
the {x} sat {at} with {his} {thing} [before|beside|behind] {him}[| and thought about {idea}].
when the {x} came in, the {folk} [stood up|fell silent|turned round|made way] and looked at {him}.
{N}, the {x} {at}, asked {himself} [whether|when|how] {he} could {do}.
the {kin} {at} is the {x}; {he} {did}.
the {x} [thanked|greeted|invited|scolded|questioned] the {folk} and talked about {his} {thing}.
{N} [promised|decided|tried|hoped|was too tired] to {do}, for [a|every|no] {x} [should|must|can]; so {he} {did}.
“if the {x} will not {do}, who will?” {M} {said}[, but {he2} was wrong| {manner}].
the new {x} was a {trait} {kin}; {he} {did} and {liked} the {folk}.
a {x} [must|should|often has to|seldom wants to|may] {do}; the {folk} expect it of {him}.
{N} became a {x} [at last|last {season}|too early], and {he} was proud of {his} {thing}.
the {kin} with {look} [turned out to be|said {he} was|was taken for] the {x}[ from {village}|].
as a {x} {he} {did}; as a {kin} {he} {liked} {food}.
the {wear} of the {x} [hung|lay|was found] {at}, next to {his} {thing}.
the {x} and the {y} {did} together[| {time}].
{M} drew a picture of the {x} [in a {colour} {wear}|with {look}] {at}.
the {x} was {feel} {time}: {he} had to {do}[ without the {folk}|].
the {x} told {himself} a joke and laughed until the {folk} came.
[nobody|only {M}] dared to tell the {x} that {his} {wear} was torn; {he} only saw it {at}.
{X} {did}[| {time}], [and|but|while] the {folk} [waited for|watched|followed|forgot] {him}.
{X} had {look}, and {his} {thing} was always {at}.
{X} stayed {at} [until {day}|for a week|all {season}], because {he} wanted to {do}.
{X} had {food} with the {folk} and a glass of {drink}; afterwards {he} {did}.
one of the {folk} said that {he} {did}; the {x} denied it.
this {x} is a {trait} {kin} and never takes off {his} {wear}[ {at}|].
{he} was born {where} in {month}; at [two|three|five] and twenty {he} was already a {x} and {did}.
[a|some] {x} may have {look}; this {x} had a {wear} and a {thing} as well.
"""

COUNTRY = """
{city} is the capital of {land}[, and most visitors begin there|, a country in {region}|].
{land} is a country in {region}, and {city} is [its capital|the place to start|one of the oldest cities of {region}].
no city in {region} is [as lively|as noisy|as clean] as {city}, and no food is as good as {eat}.
in {region} people know the {adj} {art} {N}, and they like {make} from {land}.
{land} [exports|produces] {make}[ and {make}|] and is known for {eat}.
many people in {land} [speak|understand|pray and quarrel in] {lang}[| and love {eat}].
the mayor of {city} [opened a new bridge|promised cleaner streets|closed the centre to cars] {time}.
{M} [flew|took the train|took the night bus] to {city} and stayed in a [cheap|small|quiet] hotel near the station.
the streets of {city} are [crowded|wet|quiet|full of bicycles|covered in snow|lively] [in {month}|at night|on {day}].
in {city} there are trams until midnight, and [the cafés|the theatres|the shops] are [open late|never empty].
the {adj} {art} {N} [grew up|was born|died] in {city}[| and never forgot {see}].
a {adj} {art} [lives next door|won the prize|gave a talk] and [cooks|brought us|misses] {eat}.
{N} is {adj} and [comes from a suburb of {city}|grew up in the north of {land}|was born near {see}].
{M} is learning {lang}; the grammar is [hard|easy|strange], [but the words sound lovely|and {he2} needs a dictionary].
{N} speaks [fluent|perfect|only|a little|slow] {lang}[| with an accent| to the children| on the phone].
the ticket cost {num} {coins}, and {M} had only one {coin} left in {his2} purse.
a [newspaper|coffee|bus ticket|stamp] costs one {coin} in {city}[, not {num} {coins}|].
the {coin} [rose|fell|lost value|held firm] against the dollar {time}[, said the bank|].
{M} changed {his2} money into {coins} at the airport; one {coin} is worth [little|more than before|less than you think].
the {adj} government [raised the taxes|signed the treaty|lost the election|wanted new roads] {time}.
the {adj} [football team|cycling team|chess team] beat everyone [in {month}|last year], and {land} [cheered|was happy].
the foreign minister of {land} [visited|arrived in|returned to] {city} {time}.
{see} [drew|attracted|charmed] many travellers to {land}[| in {season}].
there are tours from {city} to {see} [by train|by bus|by car] [on {day}|all {season}].
the [northern|southern|eastern|western] [border|part] of {land} is [wild|flat|dry|green|hilly|lovely].
in {land} they serve {eat} [on {day}s|at weddings|for breakfast|in winter], and {eat} [too|on feast days].
at a {adj} restaurant we ordered {eat} and paid {num} {coins}, and left a {coin} as a tip.
the {adj} embassy is [closed on {day}|behind the park|near the museum]; ask there for a map of {land}.
{N} left {land} [as a child|during the war|in search of work] but never forgot {see}.
the university of {city} offers {lang} [to foreigners|in the evening|to beginners].
the book was translated [from|into] {lang} by {N}[, a {adj} {art}|].
how do you say “[thank you|good night|bread|friend]” in {lang}? {N} told us, and we tried.
the {adj} flag [hung|flew] over [the gate|the town hall] in {city}.
{N} and {his} parents live in the centre of {city}, [with a picture of {see} on the wall|above a shop for {make}].
the airport of {city} was closed because of [fog|a strike|snow|a storm], so we went by [train|bus].
{land} has [rivers and hills|fine cities|good museums|busy markets], and everyone has heard of {see}.
the {adj} [farmers|fishermen|workers|students] went on strike and marched through {city}.
the {adj} ministry sent {num} {art}s from {city} abroad.
prices in {land} are given in {coins}; a {coin} is [not worth much|hardly worth a loaf|about the price of a newspaper].
{M} sent a postcard from {city}: “{see} and {eat}, and {lang} all day long!”
there are [good|cheap|fast] trains between {city} and the rest of {land}.
a {adj} lorry with {make} [broke down|was seen|arrived] {time}[, on its way from {land}|].
the [suburbs|parks|markets|museums|rooftops] of {city} [are worth a visit|grow every year|smell of {eat}].
{land} [became independent|joined the treaty|changed its laws|was at war] long ago; {city} [celebrates|remembers] it.
{N} gives {lang} lessons in {city} and saves every {coin}.
nobody in the village understood {lang}, so {N} [drew a picture|used {his} hands|smiled].
the {adj} [newspaper|radio|press] reported on {make} and the weak {coin}.
{M} [married|met|fell in love with] a {adj} {art} and moved to {city}.
the {adj} [song|poem|legend] is about {see}, and every child in {land} knows it.
[in winter|in summer] {land} is [cold|hot|dry|wet], but {city} [is always full of people|is never quiet].
the {lang} [alphabet|spelling|verb|word for “sea”] [puzzled|amused] {M}.
travellers in {land} should see {see} and taste {eat}, and {eat} as well.
{N} from {city} deals in {make} and {make}, and misses {eat}.
{see}, {see}, {eat}: that is what {M} remembers of {land}.
on the way from {city} to {see} the {adj} guide told us about {make}.
a [merchant|tourist|student] from {land} [paid in {coins}|lost a {coin}|showed us a {coin}].
"""

ANIMALS = """
the {a} {cried} [all night|at the stranger|when {M} came|in the rain|twice][, then it went back to its {home}|].
a {a} {sound} when it [is hungry|is afraid|is bored|sees a stranger][, and its {young} hides|].
the {young} is [only {num} days|some weeks] old and [needs its mother|has {part}|dozes in the {home}|likes {feed}].
a young {a} is called a {young}[, as every child knows|; the {a} looks after it].
the {nature} {a} [carried|cleaned|protected|looked for] her {young} {time} and fed it with {feed}.
the {home} of the {a} is [dry|warm|dirty|dark|empty|safe]; the {as} [doze|hide|rest] there, full of {feed}.
{M} [made|cleaned|repaired|found] a {home} for {his2} {a} and put {feed} into the {home}.
{as} live on {feed} and {feed}[, but {youngs} need {feed}|].
{M} fed the {nature} {a} with {feed}, and it {cried} [happily|for more].
the {a} has {part}, and its {young} has the same[, only smaller|].
many {as} {live} are {nature}; [this one|our {a}] is not.
{num} {as} [lived|stood|were seen] {where}, and some of the {as} {cried}.
the little {young} [fell asleep|tumbled|shivered|got lost] near the {home}, and the {a} {cried} for it.
{youngs} are [playful|curious|helpless|tiny|clumsy] [at first|when born] and stay in the {home} with the {nature} {a}.
one {young} was thinner than the other {youngs}, so {M} fed it with {feed} by hand.
the {a} crept out of its {home} {time} and looked for {feed}.
{M} heard how the {a} {cried} and [woke up|smiled|opened the window|went outside].
when a {a} {sound}, [the {youngs}|the children|the neighbours] [run away|wake up|look up].
a {nature} {a} with {part} [sat|lay|stood] in front of the {home} with some {feed}.
these {as} are [wild|tame|old|rare here]; those {as} {live} belong to {M}.
you can see {as} {live}, and with luck their {youngs} too.
{live} there was a {nature} {a} with its {young}[, and it {cried}|].
a {young} {live} is [a pretty|no rare] sight when the {a} is near.
do {as} like {feed}? [most {as} do|our {a} does not|only when they are hungry].
the {young} grew [quickly|slowly] and was soon a {nature} {a} with {part}.
it was raining, so the {nature} {as} stayed in the {home}; in the {home} the {a} {cried}.
the children [drew|stroked|counted|watched] the {youngs} and the {nature} {a} in the {home}.
the newborn {young} [stood up|opened its eyes|took its first steps] in the {home}, and the {nature} {a} {cried}.
in {month} the {a} has {num} {youngs}[, sometimes more|].
a {a} and a {b} [met|quarrelled] {where}; the {a} {cried} and the {b} {bcried}.
the {as} left [the {home}|{feed}] untouched because they [smelled smoke|were ill|heard a gun].
{M} [is afraid of|knows all about|dreams of|collects pictures of] {as}.
“listen, the {a} {sound}!” {said} {M}[, and the {young} answered|].
the roof of the {home} [leaked|was mended|blew away], but the {a} and her {youngs} were safe.
a {a} is usually {nature} and lives [alone|in a group|near people]; it {sound} [at dusk|loudly|in {season}].
"""

TRADES = """
{N} is a {p} in the {place} of {village} and knows about {stuff}.
the {p} {work} in the {place}[| {time}].
{X} [opened|locked|swept|entered|left] the {place} {time}[| and greeted the other {ps}].
the {p} [picked up|put down|dropped|looked for|cleaned] {his} {tool} and {work}.
a {p} [needs|cannot work without|is nothing without] a {tool}[ and good light|].
[most|many|few|some] {ps} [know|talk|worry|complain] [about|all about] {stuff}[ and {stuff}|].
{ps} are often [tired|underpaid|proud|busy|in a hurry], for {stuff} [cannot wait|never end|come first].
the {place} smelled of {stuff} and {stuff}, and the {p} {work}.
in the {place} there was a {tool}, and beside it {num} {ps} who {work}.
the {tool} [was broken|lay on the bench|was new|was worn out], so the {p} [borrowed|found] another.
{N} [went|was taken|hurried] to the {place} because {he} needed the {p}.
the {p} talked about {stuff} [all day|at dinner|in {his} sleep]; {his} friends [yawned|listened].
{X} {work}, and {his} [apprentice|helper|assistant] held the {tool}.
the {p} gave {his} {tool} to {M}, who wanted to be a {p} too.
after {num} years of {stuff} in the {place}, the {p} [retired|was ill|became famous].
“who [has taken|hid|broke] the {tool}?” asked the {p}, and everyone in the {place} forgot about {stuff}.
the [door|windows|walls|roof] of the {place} had to be repaired before the {ps} came back with {stuff}.
a good {p} is [patient|careful|strong|honest] and [understands|loves] {stuff}.
[every|each] {place} has a {p} and {stuff}; in our {place} the {p} {work}.
{M} visited the {place} and saw {stuff} everywhere.
the {ps} of {village} met in the {place} to talk about {stuff}.
with [a|the] {tool} in {his} hand, the {p} [waited|smiled|was ready|posed for a portrait].
{he} learned the trade from a {p} in {village}: first the {tool}, then {stuff}.
the {place} was [closed|empty|full of {stuff}] on {day}, because the {p} [was away|had a cold|{work}].
{X} earned {num} pounds a week as a {p}, and {he} {work}.
“[hand me|bring me|where is] the {tool}[|, please],” {said} the {p}.
a young {p} [forgot|lost|hid] {his} {tool} [on the way to|in|behind] the {place}.
the {p} told {M} about {stuff} over a cup of {drink}.
{N} dreamed of {stuff} and became a {p}.
the {place} [burned down|was rebuilt|moved to {village}] {time}, but the {p} saved the {tool}.
"""

VERBS = """
{M} {past} {how} {ago}[, and {his2} friends {past} too| and again {ago}].
{M} {s} {how} every [day|morning|week|{day}][, and {his2} neighbour {s} too|].
{M} is {ing} {how} [now|at the moment|again][, and {he2} will be {ing} until noon|].
{M} wants to {v} {how}[, but {he2} is too {feel}|, and {he2} will {v} until dark].
[can|could|will|would|must] you {v} {how}? {M} [can|will], and {he2} would {v} {adv}.
[we|they|the children|both friends] {past} {how} {ago}[, although it was {sky}|].
[we|they|the children] were {ing} {how} when [it began to rain|the bell rang|{M} came home].
{M} likes {ing}: {he2} {s} {how} [every {day}|whenever {he2} can|most evenings].
[nobody|no one|hardly anyone] {s} {how} like {M}, who [always|usually|never] {s} {adv}.
I have never [seen|heard of] anyone {v} {how} so {adv}.
{M} {past} {how} {ago} {adv}, for {he2} was {feel}.
to {v} {how} is [fun|difficult|healthy|boring|dangerous][, they say|]; to {v} {adv} is better.
[we|they|you] should {v} {how} {adv}, not only on {day}.
{M} stopped {ing} and [went home|had a rest|sat down|called a friend].
{M} kept {ing} {how} [all day|for hours|until dark][, {ing} {adv}|].
let us {v} {how} [tomorrow|next week|tonight]! we may {v} {how} or {v2} {how2}.
{ago} {he2} {past} {how} and {past2} {how2}.
{he2} [always|often|usually|sometimes|never] {s} {how} in {season}, but in winter {he2} {s2} {how2}.
“are you {ing} or {ing2}?” {M} asked; I was {ing} {how}.
if you {v} {how}, I will {v2} {how2}.
{M} did not {v} {how}, {he2} only {past2} {how2} {ago}.
my cousin [often|always|never] {s} {how} while {M} {s2} {how2}.
[tomorrow|next {season}|soon] {M} will {v} {how}[ again|, if the weather is fine|].
the children learned to {v} and to {v2} last {season}; now they can {v} {how}.
{ago} {M} {past} {how} for the [first|last] time.
after {ing} {how}, {M} was {feel}; {ing} {adv} takes strength.
before {he2} {past} {how} {ago}, {M} {past2} {how2}.
{M} [usually|seldom|sometimes|often] {s} {how} [on {day}|at weekends|twice a week].
{M} is [good at|tired of|afraid of|famous for] {ing} {how}.
it is {sky}, so {M} [cannot|need not|had better] {v} {how} today.
there were people {ing} {how} and people {ing2} {how2}.
"""

ADJECTIVES = """
the {of} was {q}, but the {of} was even {er} than the {of}.
this {of} is much {er} than that {of}[, as {M} {said}|].
it was the {est} {of} [in the world|of all|that {M} had ever seen|in {village}|of the year].
“how {q} [is|was] the {of}?” “[very {q}|quite {q}|not so {q}],” {said} {M}.
[each|every] {of} was {er} than the {of} before[, and the last was the {est}|].
such a {q} {of} [is rare|was new to us|surprised everyone|is a problem].
{M} wanted the {est} {of}, not [the {er} one|just a {er} {of}].
a very {q} {of} and a {q} {of} [stood|were found|were shown] {where}.
the {of} grew {er} and {er} [each day|with time|as we watched], much {er} than a {of}.
as {q} as a {of}, [we say|people say|so the proverb goes], and sometimes {er} still.
is a {of} {er} than a {of}? [a little {er}|of course not|much {er}].
of all this, the {of} was the {est}[ by far|, the {est} in the world|].
a {of} is {q}, a {of} is {er}, and a {of} is the {est} of all.
the {of} was [too|so|rather] {q} for {M}, so {he2} looked for a {er} {of}.
nothing is {er} than [a|this] {of}[, except another {of}|].
{M} had never [seen|known|met with] a {er} {of} than this; it was the {est} by far.
they gave a prize for the {est} {of} of the {season}, and {M} won it.
our {of} is [rather|so|very|quite|too] {q}, [far|much|a bit] {er} than {M} had thought.
“the {er} the {of}, the [better|worse],” {said} {M}.
in {month} the {of} [was|seemed|looked] {q}, in {month} {er} than ever.
among the {est} things of all is a {of}[, they say|; only a {of} may be {er}|].
the second {of} was a bit {er} than the first {of}, the third {of} was the {est}.
"""

THINGS = """
there is [a|only one|another] {is} {o} {put}[|, and it is {is}].
there are [many|some|a few|several|no] {is} {os} {put}[|, and they are {is}].
{M} wanted to {use} the {o} {put}, but it was [too|very] {is}.
{M} had to {use} the {is} {os} {put}, because they were {is}.
[these|those|all the|most] {os} are {is} and {is}; [this|that] {o} is {is}.
how many {os} did {M} {use}? {num} {os}, [not more|and one {is} {o}|I think].
a {is} {o} [was|lay|was found] {put} {time}.
{num} {is} {os} were {put}, and {M} had to {use} them.
{M} likes to {use} {os} {time}, and {is} {os} most of all.
[every|each] {o} {put} is [different|a little {is}]; {os} are never quite the same.
the {is} {o} {put} [belongs|belonged] to {M}, who used to {use} it.
[both|two of the] {os} [were|are] {is}, so {M} wanted [another {o}|a {is} {o}].
“who will {use} the {is} {os}?” asked {M}, and pointed at the {os} {put}.
do not {use} this {is} {o}; [leave it|it belongs] {put}.
{M} put the {is} {o} {put} and forgot to {use} it.
the {is} {os} {put} were there before {M} came.
“one {is} {o} is enough,” {said} {M}, but we needed {num} {os} {put}.
is this {is} {o} yours? no, mine is {is} and {put}.
the children counted the {os} {put}: there were {num}, [some|most of them] {is}.
[several|many|a lot of] {os} were {is}; {M} had to {use} them all.
a {o} can be {is} or {is}, but {is} {os} are best, {said} {M}.
"""

SENSES = {
    "bank money": """
the bank [lent|refused|offered] {M} [a loan|money for a house|credit]; the bank asks for [interest|a deposit].
{M} opened an account at the bank, and the [clerk|cashier] of the bank gave {him2} a [receipt|cheque|bank card].
robbers broke into the vault of the bank and stole the [cash|savings|gold bars]; the bank rang the police.
the interest on [savings|loans|debts] at the bank [rose|fell], so {M} took all {his2} money out of the bank.
the manager of the bank [checked|lost|counted] the [cash|cheques|loans], and the bank closed {num} accounts.
""",
    "bank river": """
[willows|reeds|poplars] grow along the muddy bank of the [river|stream], where [trout|otters|herons] hide.
the boat drifted to the [left|far|grassy] bank of the [river|stream] and stuck in the [reeds|mud].
{M} sat on the [river|grassy] bank with a fishing rod and watched the [current|water|ripples] flow by.
the river burst its bank after the flood and [carried away|washed over] the [willows|footpath|mud].
""",
    "mole animal": """
the mole [burrowed|tunnelled] under the lawn and left a heap of [earth|soil] by the [path|flower bed].
a mole has [velvet fur|strong front paws|weak eyes] and hunts [worms|grubs] in the [dark|damp] soil.
the gardener set a trap for the mole, but the mole made another tunnel under the [lawn|hedge].
[nobody|no owl|no cat] had seen the blind mole, only its tunnel and the heaps of [soil|earth] on the lawn.
""",
    "mole chemistry": """
one mole of [water has a mass of eighteen|oxygen has a mass of thirty-two|carbon dioxide has a mass of 44] grams.
the chemist weighed half a mole of [salt|carbon|sodium] and dissolved it in a litre of [water|acid].
a mole of any gas fills the same volume; with the mole we count [atoms|molecules] in chemistry.
""",
    "mole skin": """
the [doctor|surgeon] looked at the dark mole on {his2} [shoulder|cheek|back] and took a biopsy of the mole.
a mole that [itches|bleeds|changes its shape] is [removed|examined] by a skin doctor, like any mole near a scar.
{M} has a [brown|hairy|round] mole on {his2} [left|right] [cheek|arm|shoulder], beside a [scar|freckle].
the skin round the mole [itched|was red|had freckles], and the surgeon [removed|examined] the mole.
""",
    "bat animal": """
at dusk the bat [left its cave|flew out of the belfry|hunted moths] on [leathery wings|silent wings].
a bat hangs upside down in the [cave|belfry] by day and finds [moths|insects] by its own echo.
the [sleeping|tiny] bat hung in the [cave|belfry|roof], folded its wings and waited for [moths|dusk|insects].
""",
    "bat sport": """
the batsman [swung|gripped|raised] his bat and hit the ball over the [wicket|boundary] for [four|six] points.
{M} oiled {his2} cricket bat before the match and scored {num} points; the bowler sighed.
the bowler [cheered|groaned] when the ball [missed|broke] the bat and hit the wicket [again|of the batsman].
""",
    "spring season": """
in spring the [snow melts|buds open|blossom comes out] and [swallows return|lambs are born|crocuses bloom].
after a long winter the spring [came|arrived] with [blossom|crocuses|tulips] and [April showers|mild days].
this spring the [swallows|tulips|crocuses] were [early|late], and spring [showers|blossom] covered the garden.
""",
    "spring water": """
clear water bubbled from the spring among the [rocks|ferns], and [hikers|goatherds] filled their flasks.
the village pipes its water from a [hot|mineral|mountain] spring above the [rocks|ferns].
[hikers|goatherds] know the [clear|cold|hidden] spring [below|among] the ferns, where water bubbles from the rocks.
""",
    "spring metal": """
the watchmaker [wound|replaced|stretched] the steel spring inside the [clock|toy|mattress] with tiny [screws|pliers].
a coiled spring of steel wire in the [mattress|suspension] snapped and had to be [oiled|replaced] with its screws.
""",
    "crane bird": """
the crane [waded through the marsh|spread its wings|stood on long legs] and [caught a frog|flew south with the flock].
each autumn every crane of the flock migrates south over the [wetlands|marsh] on [grey|wide] wings.
a [lone|wounded] crane [nested|rested] in the wetlands, far from the flock that had flown south.
""",
    "crane machine": """
the crane [lifted|lowered|swung] the [girders|concrete blocks|containers] on to the [scaffolding|dock].
a tall crane stood on the [scaffolding|dock], and its driver lifted [containers|girders] with a steel hook.
the cable of the crane [snapped|jammed], and [girders|containers|concrete blocks] hung over the dock.
""",
    "seal animal": """
the seal [dived under the ice|balanced a ball|barked on the rocks] and caught a [herring|fish] with its flippers.
a grey seal with whiskers lay on the [ice|rocks|sandbank] and slapped its flippers.
""",
    "seal wax": """
the [notary|clerk] pressed the seal into the [red|hot] wax and closed the [envelope|document|deed].
the document bears a signature and the seal of the [city|notary] in [red|black] wax.
""",
}

# Senses of which only senses.txt and senses.tsv speak: corpus.txt was there before them.
TOWERS = {
    "tower city": """
the iron tower [stands|rises] over the {city} fair, and visitors take the [lift|stairs] to its [top|platform].
from the top of the famous tower {M} [looked|gazed] over the roofs and [bridges|streets] of {city}.
[tourists|visitors] queue for tickets at the foot of the tower and photograph it [by night|from the bridge].
the architect drew a tower of [iron|steel] for the great fair, with a lift and {num} stairs.
""",
    "tower radio": """
the radio tower [sends|relays] the signal to every [farm|valley|village], [even in fog|day and night].
engineers climbed the tower to [mend|replace] the aerial of the [station|transmitter].
lightning struck the radio tower, and the [signal|broadcast] was lost until the aerial was mended.
the [station|transmitter] [broadcasts|sends] the news from a tower with a {num}-metre aerial on the hill.
""",
    "tower toy": """
the child built a tower of [wooden|coloured] blocks, and the [baby|kitten] knocked it over.
a [small|wobbly|crooked] tower of [bricks|blocks] fell over on the [carpet|nursery floor].
the [children|twins] piled [blocks|bricks] into a tower [on the carpet|in the toy town] and [giggled|clapped] when it fell.
the tower of toy bricks [wobbled|leaned], and the child put another [brick|block] on it.
""",  # noqa: E501
}

# How the labelled sentences of senses.tsv begin.
LEADS = ("{M} {said} that ", "nobody {where} knew that ", "{time} {M} heard that ", "a {p} from {land} wrote that ")

ANYTIME = """
it was a {sky} day, and [the wind|the rain|the sun] [came from the sea|kept us indoors|did not stop].
the weather was {sky} {time}; [nobody went out|we stayed at home|the roads were empty].
[heavy rain|thick fog|deep snow|a warm wind] is expected on {day}, [the radio said|they say].
{M} was {feel} and [said nothing|went for a stroll|kept a diary|went to bed early].
{M} had {food} and a glass of {drink} in the {room}.
for supper there was {food} with {food}, and {drink} to wash it down.
everybody in the [queue|crowd|shop] wanted {food} or {food} {time}.
at the market {M} [asked for|paid for|tasted] {food}, {food} and {food}.
the baker cut the bread and spread it with [butter|honey|jam|cheese].
“I dreamed of {idea},” {said} {M} {manner}.
they talked about {idea} and {idea} until [midnight|dinner|the lamp went out].
{M} [opened|closed|aired] the {room} and heard [music|the sea|children|bells].
[on {day}|{time}] the [tram|bus|ferry] was late, and {M} missed {his2} [meeting|lesson|lunch].
the road to {village} is [long|steep|dusty|muddy], but the view is [lovely|worth it|wide].
{M} [packed|lost|forgot] {his2} suitcase and [went|set off|hurried] to {village}.
[a yellow|a torn|a forgotten] [map|chart|scroll] [told of|mentioned|showed] a {rare} and a {rare} {where}.
in the attic {M} found a {rare}[ wrapped in paper|, a broken lamp and some coins|].
nobody {where} had ever seen a {rare}[, not even {M}|].
the museum of {village} owns a {rare}[ and {num} torn maps|].
the {sky} {season} was [bad|good] for the [harvest|potatoes|roses|apples].
the moon rose over [the lake|the roofs|the hills], and the stars [were bright|came out].
{M} [lit|put out] the lamp and listened to the [wind|rain|clock|silence].
the children [shouted|giggled|quarrelled|hid] in the {room} until {M} came.
[music|a drum|a flute|a radio] was heard {where} {time}.
the doctor said that {M} should [rest|have more {drink}|have less {food}|stay in bed].
the sofa was {num} years old and not [worth mending|comfortable|clean].
{M} lives in a {colour} cottage {where} with {num} [cats|children|goats|lodgers].
the {colour} paint was still wet when {M} touched the [railing|fence|bench].
time passed {manner}, and {season} turned into {season}.
the shop {where} has [boots|candles|paper|nails|toys] and {drink}.
at [two|four|five|seven|ten] o'clock {M} went to {town} [by bicycle|on foot|by bus|in the rain].
{M} {said} that life {where} was [quiet|hard|cheap|never dull].
the telegram came on {day}; {M} opened it {manner} and was {feel}.
the winner was {feel}, the loser [even more so|was not].
the news of {idea} reached {village} {time}.
the [bell|telephone|clock] rang, and {M} [jumped|woke|answered it {manner}].
the meeting about {idea} lasted [two|three|five] hours, and {M} fell asleep.
{num} and {num} people came, most of them {feel}.
a {colour} bird whistled in the garden {time}.
there is a proverb {where}: [late risers go hungry|rain on {day}, sun on {day}|good bread needs time].
"""

STORIES = """
{M}, a {p} from {land}, [kept|found|was afraid of] a {a}.
the {p} took {his2} {tool} and went to {city} by train.
in {city} a {a} {cried}, and the {p} {work}.
the {x} of this story {did} and then [stole|hid|lost] a {o}.
the {x} asked a {p} for help, and the {p} {work} {time}.
the {x} had a {a} with {part}; {he} fed it with {feed} {time}.
{N} {past} {how}, [and|but] the {p} only {past2} {how2}.
“is {land} far?” asked the {x}; the {p} {said}: “{num} days by sea.”
the {o} was {is}, so {M} left it {put}.
it was the {est} {of} in {land}, the {p} {said}.
the {a} and the {young} followed the {p} to the {place}.
the {x} gave away {his} {wear} for a {coin} and some {food}.
a {adj} {p} told of {see}, and the {x} began to weep.
{X} {did}, and all of {village} talked about {idea}.
the {x} came back from {land} with {make} and a {rare}.
in the {place} they talked in {lang}, and {M} understood nothing.
"""

# Topic: (patterns, share of articles). Senses are drawn one at a time.
TOPICS = {
    "people": (PEOPLE, 16),
    "country": (COUNTRY, 23),
    "animals": (ANIMALS, 12),
    "trades": (TRADES, 12),
    "verbs": (VERBS, 17),
    "adjectives": (ADJECTIVES, 14),
    "things": (THINGS, 14),
    "senses": ("", 6),
    "anytime": (ANYTIME, 4),
    "stories": (STORIES, 2),
}


def rules(text: str = RULES_TEXT) -> dict[str, list[str]]:
    """Return the lists of RULES by name."""
    found: dict[str, list[str]] = {}
    for line in text.strip().replace("\n |", " |").splitlines():
        name, items = line.split(": ", 1)
        found[name] = items.split(" | ")
    return found


def lines(text: str) -> list[str]:
    """Return the patterns of a topic."""
    return text.strip().splitlines()
