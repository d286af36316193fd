"""How each language speaks of days: one table a language, written for people to read. Pure.

A line is `name: content`. Vocabulary comes first:

- `triggers`: words (of zh, ja, ko: pieces of text) without which the language is not looked at;
- `years`: words that trigger it only beside a year or a date in numbers;
- `numbers`: the words for 1, 2, 3 and so on; `some`: words for a couple, a few and several;
- `day`, `week`, `month`, `quarter`, `year`, `weekend`: words of the unit;
- `weekdays`: from Monday; `seasons`: from spring; `months`: names beside those of `index.dates`;
- `doubtful`: months that are as often another word, read as `{maybe}` rather than `{month}`;
- `signs`: words that show that a text is in this language.

Every other line is an operation with the phrases that ask for it, between slashes. A phrase is words,
classes in braces (`{n}` a number, `{some}`, `{unit}`, `{day}` and `{m}` a day and month in digits, `{ord}` a
day as 2nd, `{year}` …), alternatives with `|`, and `?` behind what may be missing. The longest phrase at a
place wins, and a word of the phrase over a class. The operations:

- `-1`, `0`, `+1` with a unit (`-1 day`) or with the one named: the unit so far from the present one; of a
  weekday, month or season the last before now, that of this week or year, the next;
- `ago` and `ahead`: so many units from today; with a count and unit (`ago 2 day`), just those;
- `within`: the last so many units, until today;
- `in -1 week`, `in -1 year`: the weekday of last week, the month of last year;
- `written`: a date or a part of one, the latest that has begun where the year is missing;
- `since`, `before`, `after`: words before a date, with or without how long;
- `none`: reads like a period and is none.

`?` behind an operation asks for a sign of the language elsewhere in the text, `^` for lower case,
`!` for a capital and no plural behind it (`May 2 standup`, but not `may 2 people join`).
"""

from __future__ import annotations

ENGLISH = """
triggers: following back now throughout today tonight yesterday tomorrow last past previous this next ago
    weekend morning afternoon evening night
years: in of during since before after early late mid year until on
numbers: a|an|one two three four five six seven eight nine ten eleven twelve
some: couple few several
day: day days
week: week weeks
month: month months
quarter: quarter quarters
year: year years
weekend: weekend weekends
weekdays: monday tuesday wednesday thursday friday saturday sunday
seasons: spring summer autumn|fall winter
months: _ _ _ _ _ _ _ _ sept
doubtful: may march jan feb mar apr jun jul aug sep sept oct nov dec
0 day: today / tonight / this morning|afternoon|evening
-1 day: yesterday / last night|evening
-2 day: the? day before yesterday
+1 day: tomorrow
+2 day: the? day after tomorrow
0 weekend: this weekend
written weekend: over|at the weekend
-1: last|previous {unit} / last {weekday} / this? past {weekday} / last {season} / last {month}|{maybe}
-2: the? {unit} before last / {weekday} before last
0: this {unit} / this {weekday} / this {month}|{maybe} / this {season}
+1: next|following {unit} / next {weekday} / next {month}|{maybe} / next {season}
in -1 week: last week on? {weekday} / {weekday} of? last week
in 0 week: {weekday} of? this week
in -1 year: last year in? {month}|{maybe} / in? {month}|{maybe} of? last year
    / last year on {month}|{maybe} {day} / in? the? {season} of? last year
in 0 year: in? {month}|{maybe} of? this year
ago: about|around|some|roughly? {n} {unit} ago / a? {some} of? {unit} ago / {n} {unit} back
ago 1 day: the other night
within 1: in|over|during|within|for the last|past {unit} / the|this? past {unit}
within: last|past|previous {n} {unit} / last|past a? {some} of? {unit}
ahead: {n} {unit} from now
written: on|since {weekday} morning|afternoon|evening|night? / {weekday} morning|afternoon|evening|night
    / in|during|of|early|late|mid the? {month} / in|during|of|early|late|mid {maybe}
    / on|in|during|of|by? the? {weekday}? {month} the? {day} {year}?
    / on|in|during|of|by? the? {weekday}? {maybe} the? {ord} {year}?
    / on|in|during|of|by? the? {weekday}? {maybe} {day} {year}
    / on|since|until|by|before|after|from|around {weekday}? {maybe} {day}
    / on|by|of? {weekday}? the? {day} of? {month} {year}?
    / on|by|of? {weekday}? the? {ord} of? {maybe} {year}? / on|by|of? {day} {maybe} {year}
    / {day} of {maybe} {year}? / on {day} {maybe} / in|during|of|early|late|mid? {month}|{maybe} of? {year}
    / in|during|since|of|throughout|early|late|mid|year the? year? {year}
    / last|first {unit} of the? {month}|{maybe} {year}? / {season} of? {year}
    / in|during|over the? {season} of? {year}?
written !: {maybe} {day}
since: since / starting from
before: before / {n}|{some} {unit} before / the|last {unit} before / the|last? {weekday} before
    / a? {some} of? {unit} before
after: after / {n}|{some} {unit} after / the {unit} after / the? {weekday} after
    / a? {some} of? {unit} after
none: last day|days / last {unit} of / every|each|per|any {unit}
    / every|each|any last|other? {weekday}|{month} / every|each {season} / next to / this {unit} of
    / in|of {year} words|bytes|bits|ms|tokens|lines|characters|chars|steps|people
    / in|of {year} dollars|euros|meters|metres|miles
    / in spring boot|framework / in the fall of {month}
"""

SPANISH = """
triggers: fin anterior viene hoy ayer anteayer anoche antier manana hace pasado pasada pasados pasadas
    ultimo ultima ultimos ultimas este esta proximo proxima atras
years: en de desde durante antes despues del ano
numbers: un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce
some: par pocos|pocas|unos|unas|algunos|algunas varios|varias
day: dia dias
week: semana semanas
month: mes meses
quarter: trimestre trimestres
year: ano anos
weekend: finde
weekdays: lunes martes miercoles jueves viernes sabado domingo
seasons: primavera verano otono invierno
months: _ _ _ _ _ _ _ _ setiembre
0 day: hoy / esta manana|tarde|noche
-1 day: ayer / anoche
-2 day: anteayer / antes de ayer / ante ayer / antier / antes ayer
+1 day: manana
+2 day: pasado manana
-1 weekend: el? fin de semana pasado|anterior / el? pasado fin de semana / el? ultimo fin de semana
0 weekend: este fin de semana
written weekend: el fin de semana
-1: {unit} pasado|pasada|anterior / pasado|pasada {unit} / el? ultima|ultimo {weekday}
    / el? {weekday} pasado / el? pasado {weekday} / {month} pasado / pasado {month} / {season} pasado|pasada
0: este|esta {unit} / este {weekday} / este {month} / este|esta {season}
+1: proximo|proxima {unit} / {unit} que viene / {unit} proximo|proxima / proximo {weekday}
    / {weekday} que viene
in -1 week: el? {weekday} de la semana pasada
in -1 year: en? {month} del ano pasado / {day} de {month} del ano pasado / {season} del ano pasado
in 0 year: en? {month} de este ano
ago: hace {n} {unit} / hace un? {some} de? {unit} / {n} {unit} atras
within: ultimos|ultimas|pasados|pasadas {n} {unit} / desde hace {n} {unit}
within 1: en|durante el|la ultimo|ultima {unit}
written: el|este {weekday} / en|durante|de|desde {month} / en|durante|de|desde? {month} de|del? {year}
    / el? {weekday}? el|del? {day} de {month} de|del? {year}? / en|durante|desde|ano|de|del el? ano? {year}
    / {season} de|del {year}
since: desde el|la?
before: antes del|de el? / {n} {unit} antes del|de el?
after: despues del|de el? / {n} {unit} despues del|de el?
none: por|de|en? la|cada|una manana / ultimo dia / cada {weekday} / ultimo|ultima {unit} de
    / en {year} palabras|bytes|lineas
"""

FRENCH = """
triggers: precedente depuis cours apres week hier avant demain aujourd dernier derniere derniers dernieres
    passe passee prochain prochaine cette ce il soir matin
years: en de depuis pendant avant apres annee du le
numbers: un|une deux trois quatre cinq six sept huit neuf dix onze douze
some: couple quelques plusieurs
day: jour jours
week: semaine semaines
month: mois
quarter: trimestre trimestres
year: an ans annee annees
weekend: weekend weekends
weekdays: lundi mardi mercredi jeudi vendredi samedi dimanche
seasons: printemps ete automne hiver
doubtful: mars
signs: le les des du que qu j je nous est dans pour avec ce quoi quel quelle ai fait sur une et c l d mon
    ma
0 day: aujourd hui / ce matin|soir / cet apres midi
-1 day: hier soir|matin
-1 day ?: hier
-2 day: avant hier
+1 day: demain
+2 day: apres demain
-1 weekend: week end dernier|passe / dernier week end
0 weekend: ce week end
written weekend: le week end
-1: {unit} dernier|derniere|passe|passee|precedente / {weekday} dernier|passe / {month}|{maybe} dernier
    / {season} dernier
0: ce|cette {unit} / ce {weekday} / cet {season}
+1: {unit} prochain|prochaine / prochain|prochaine {unit} / {weekday} prochain
in -1 week: le? {weekday} de la semaine derniere
in -1 year: en? {month}|{maybe} de? l annee derniere / en? {month}|{maybe} an dernier
    / en? {month}|{maybe} de? l an dernier / {day} {month}|{maybe} de? l an|annee dernier|derniere
ago: il y a environ? {n} {unit} / il y a un? {some} de? {unit}
within: {n} derniers|dernieres {unit} / depuis {n} {unit} / derniers|dernieres {n}? {unit}
within 1: au cours du|de dernier|la {unit}
written: {weekday} / en|depuis|courant|debut|fin|mi {month}|{maybe} / de|d {month}
    / mois de|d {month}|{maybe} / en|depuis|courant|debut|fin|mi|de|d? {month} {year}
    / en|depuis|debut|fin {maybe} {year} / le|du|au {weekday}? {day} {month}|{maybe} {year}?
    / {weekday}? {day} {month} {year}? / en|depuis|annee|de {year} / l? {season} {year} / {season} de {year}
written ?: {maybe} {year} / {day} {maybe} {year}?
since: depuis le|la?
before: avant le|la? / {n} {unit} avant le|la?
after: apres le|la? / {n} {unit} apres le|la?
none: le {weekday} / chaque|tous|par les? {unit}|{weekday}
    / derniere|dernier|derniers|dernieres {unit} de|du
"""

GERMAN = """
triggers: vorletzten vorletztes seit wahrend dem heute gestern vorgestern morgen ubermorgen letzte letzten
    letzter letztes vergangene vergangenen vergangener vergangenes diese diesen dieser dieses diesem
    vorige vorigen voriges nachste nachsten nachster nachstes vor vorletzte wochenende kommende kommenden
years: in im seit vor nach jahr jahre von
numbers: ein|einem|einer|eine|einen zwei drei vier funf sechs sieben acht neun zehn elf zwolf
some: paar wenigen|einigen|einige mehreren
day: tag tage tagen tages
week: woche wochen
month: monat monate monaten monats
quarter: quartal quartale quartalen quartals
year: jahr jahre jahren jahres
weekend: wochenende wochenenden
weekdays: montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag
seasons: fruhling|fruhjahr sommer herbst winter
months: janner
0 day: heute / heute morgen|abend|nacht|mittag
-1 day: gestern / gestern morgen|abend|nacht|mittag / letzte nacht
-2 day: vorgestern
+1 day ^: morgen / morgen fruh|abend
+2 day: ubermorgen
written weekend: am wochenende
-1: letzte|letzten|letzter|letztes|vergangene|vergangenen|vergangenes|vorige|vorigen|voriges {unit}
    / letzten|vergangenen|vorigen {weekday} / letzten|vergangenen {month}
    / letzten|vergangenen|letztes {season}
-2: vorletzte|vorletzten|vorletztes {unit}
0: diese|diesen|dieser|dieses|diesem {unit} / diesen|diesem {weekday} / diesen|diesem {season}
    / diesen|diesem {month}
+1: nachste|nachsten|nachster|nachstes|kommende|kommenden {unit} / nachsten|kommenden {weekday}
in -1 week: am? {weekday} letzter|letzte|der woche / letzte|vorige woche am? {weekday}
in -1 year: im? {month} letzten|vergangenen|des|letztes jahres|jahr|letzten jahres?
    / letztes|vergangenes jahr im {month} / {day} {month} letzten|vergangenen jahres
    / letzten|letztes jahr im {season}
ago: vor etwa|ungefahr|rund|ca? {n} {unit} / vor ein? {some} {unit}
within: letzten|vergangenen|letzte {n} {unit} / seit {n} {unit}
within 1: in|wahrend der|dem|den letzten|vergangenen {unit}
written: am {weekday} / im|seit|anfang|ende|mitte {month} / im|seit|anfang|ende|mitte? {month} {year}
    / am|vom|dem|den? {weekday}? den|dem? {day} {month} {year}? / im jahr|jahre {year}
    / in|seit|jahr|jahre {year} / im? {season} {year}
since: seit dem?
before: vor dem? / {n} {unit} vor dem?
after: nach dem? / {n} {unit} nach dem?
none: guten|am|jeden|den|der|einem|diesen|eines morgen / jeden|jede|jedes|pro {unit} / jeden {weekday}
    / letzten|letzte|letzter {unit} des|von / letzter|letzten tag / in {year} wortern|bytes|zeilen
"""

PORTUGUESE = """
triggers: fim vem hoje ontem anteontem amanha passado passada passados passadas ultimo ultima ultimos
    ultimas este esta neste nesta deste desta proximo proxima ha atras faz segunda terca quarta quinta
    sexta
years: em de desde durante antes depois ano do
numbers: um|uma dois|duas tres quatro cinco seis sete oito nove dez onze doze
some: par poucos|poucas|alguns|algumas|uns|umas varios|varias
day: dia dias
week: semana semanas
month: mes meses
quarter: trimestre trimestres
year: ano anos
weekdays: _ _ _ _ _ sabado domingo
seasons: primavera verao outono inverno
0 day: hoje / esta manha|tarde|noite
-1 day: ontem / ontem a noite
-2 day: anteontem / antes de ontem
+1 day: amanha
+2 day: depois de amanha
-1 weekend: fim de semana passado / ultimo|passado fim de semana
0 weekend: este|neste fim de semana
written weekend: no fim de semana
-1: {unit} passado|passada|anterior / no? ultimo|ultima {weekday} / no? {weekday} passado|passada
    / {month} passado / {season} passado|passada / ultimo|ultima {unit}
-1 weekday 0: segunda feira? passada / ultima|passada segunda feira?
-1 weekday 1: terca feira? passada / ultima|passada terca feira?
-1 weekday 2: quarta feira? passada / ultima|passada quarta feira?
-1 weekday 3: quinta feira? passada / ultima|passada quinta feira?
-1 weekday 4: sexta feira? passada / ultima|passada sexta feira?
0: este|esta|neste|nesta|deste|desta {unit} / este|neste {weekday}
+1: proximo|proxima {unit} / {unit} que vem / proximo {weekday} / {weekday} que vem
in -1 year: em? {month} do ano passado / {day} de {month} do ano passado / {season} do ano passado
ago: ha|faz {n} {unit} / ha|faz um? {some} de? {unit} / {n} {unit} atras
within: ultimos|ultimas|passados|passadas {n} {unit}
within 1: durante|no|na o|a? ultimo|ultima {unit}
written: no {weekday} / em|durante|desde|de {month} / em|durante|desde|de? {month} de|do? {year}
    / no|em|o? dia? {day} de {month} de|do? {year}? / em|desde|durante|ano|de|do o? ano? {year}
    / {season} de {year}
written weekday 0: na? segunda feira
written weekday 1: na? terca feira
written weekday 2: na? quarta feira
written weekday 3: na? quinta feira
written weekday 4: na? sexta feira
since: desde o|a?
before: antes de|do|da dia? / {n} {unit} antes de|do|da dia?
after: depois de|do|da dia? / {n} {unit} depois de|do|da dia?
none: ultimo dia / cada {unit} / ultimo|ultima {unit} de|do|da
    / toda|cada segunda|terca|quarta|quinta|sexta feira? / em {year} palavras|bytes|linhas
"""

ITALIAN = """
triggers: avantieri fine quest da oggi ieri altroieri domani dopodomani stamattina stasera stanotte scorso
    scorsa scorsi scorse ultimo ultima ultimi ultime questo questa prossimo prossima fa passato passata
    passati passate
years: nel in di dal durante prima dopo anno del
numbers: un|una|uno due tre quattro cinque sei sette otto nove dieci undici dodici
some: paio pochi|poche|qualche|alcuni|alcune diversi|diverse
day: giorno giorni
week: settimana settimane
month: mese mesi
quarter: trimestre trimestri
year: anno anni
weekend: weekend
weekdays: lunedi martedi mercoledi giovedi venerdi sabato domenica
seasons: primavera estate autunno inverno
0 day: oggi / stamattina / stasera / stanotte / questa mattina|sera
-1 day: ieri / ieri sera|mattina
-2 day: l? altro ieri / altroieri / avantieri
+1 day: domani
+2 day: dopodomani / dopo domani
-1 weekend: fine settimana scorso / scorso fine settimana
0 weekend: questo fine settimana
written weekend: nel fine settimana
-1: {unit} scorso|scorsa|passato|passata / scorso|scorsa {unit} / il|la? {weekday} scorso|scorsa
    / lo|la? scorso|scorsa {weekday} / {month} scorso / scorso {month} / {season} scorso|scorsa
    / scorso|scorsa {season}
0: questo|questa {unit} / questo|questa {weekday} / questa|quest {season}
0 year: quest anno
+1: prossimo|prossima {unit} / {unit} prossimo|prossima / prossimo|prossima {weekday}
    / {weekday} prossimo|prossima
in -1 week: il|la? {weekday} della settimana scorsa / il|la? {weekday} della scorsa settimana
in -1 year: a|in|nel? {month} dell anno scorso / a|in|nel? {month} dello scorso anno
    / {day} {month} dell anno scorso
ago: circa? {n} {unit} fa / un? {some} di? {unit} fa
within: ultimi|ultime|scorsi|scorse {n} {unit} / da {n} {unit}
within 1: nell|durante l? ultimo|ultima {unit}
written: {weekday} / a|in|nel|da|di|durante {month} / mese di {month}
    / a|in|nel|da|di|durante? {month} del? {year} / il|del|dal|al? {weekday}? {day} {month} del? {year}?
    / nel|dal|anno|del {year} / {season} del? {year}
since: da|dal|dalla
before: prima del|di|dell / {n} {unit} prima del|di|dell
after: dopo il|l? / {n} {unit} dopo il|l?
none: il|ogni|di|la {weekday} / ultimo giorno / ogni {unit} / ultimo|ultima {unit} di|del|della
"""

DUTCH = """
triggers: gisteravond gisterochtend morgenochtend morgenavond komend sinds vandaag gisteren eergisteren
    morgen overmorgen vorige vorig afgelopen laatste deze dit volgende volgend komende geleden vanochtend
    vanavond vanmiddag vannacht weekend
years: in sinds voor na jaar van vanaf
numbers: een twee drie vier vijf zes zeven acht negen tien elf twaalf
some: paar enkele|aantal verscheidene
day: dag dagen
week: week weken
month: maand maanden
quarter: kwartaal kwartalen
year: jaar jaren
weekend: weekend weekeinde
weekdays: maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
seasons: lente|voorjaar zomer herfst|najaar winter
0 day: vandaag / vanochtend / vanavond / vanmiddag
-1 day: gisteren / gisteravond / gisterochtend / vannacht
-2 day: eergisteren
+1 day ^: morgen / morgenochtend / morgenavond
+2 day: overmorgen
written weekend: in het weekend
-1: vorige|vorig|afgelopen {unit} / vorige|afgelopen {weekday} / vorige|afgelopen {month}
    / afgelopen|vorige {season}
0: deze|dit {unit} / deze {weekday} / deze {season} / deze {month}
+1: volgende|volgend|komende|komend {unit} / volgende|komende {weekday}
in -1 week: vorige week op? {weekday} / {weekday} vorige week
in -1 year: in? {month} vorig jaar / in? {month} van vorig jaar / vorig jaar in? {month}
    / {day} {month} vorig jaar / vorig jaar in de {season}
ago: ongeveer? {n} {unit} geleden / een? {some} {unit} geleden
within: afgelopen|laatste {n} {unit} / sinds {n} {unit}
written: op|afgelopen {weekday} / in|sinds|begin|eind|half {month}
    / in|sinds|begin|eind|half? {month} {year} / op|van? {weekday}? {day} {month} {year}?
    / in het? jaar? {year} / sinds|vanaf|jaar {year} / {season} van? {year}
since: sinds|vanaf
before: voor / {n} {unit} voor
after: na / {n} {unit} na
none: goede|elke|iedere|deze|vorige|de|s morgen / elke|iedere|per {unit}|{weekday} / laatste dag
    / in {year} woorden|bytes
"""
