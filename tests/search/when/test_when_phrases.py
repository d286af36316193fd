"""What is read of phrases in eleven languages, asked on a Wednesday: 18 March 2026."""

from __future__ import annotations

from datetime import date

import pytest

from memlane.search.when import periods

TODAY = date(2026, 3, 18)

PHRASES = """
# English
today: 2026-03-18
yesterday: 2026-03-17
the day before yesterday: 2026-03-16
last night: 2026-03-17
this morning: 2026-03-18
this week: 2026-03-16..2026-03-22
last week: 2026-03-09..2026-03-15
next week: 2026-03-23..2026-03-29
the past week: 2026-03-11..2026-03-18
this month: 2026-03-01..2026-03-31
last month: 2026-02-01..2026-02-28
past month: 2026-02-18..2026-03-18
last year: 2025-01-01..2025-12-31
this year: 2026-01-01..2026-12-31
last quarter: 2025-10-01..2025-12-31
this quarter: 2026-01-01..2026-03-31
last weekend: 2026-03-14..2026-03-15
this weekend: 2026-03-21..2026-03-22
over the weekend: 2026-03-14..2026-03-15
3 days ago: 2026-03-15
three weeks ago: 2026-02-22..2026-02-28
a week ago: 2026-03-08..2026-03-14
two months ago: 2026-01-03..2026-02-02
a year ago: 2024-09-17..2025-09-16
a couple of weeks ago: 2026-02-25..2026-03-11
a few days ago: 2026-03-13..2026-03-16
several months ago: 2025-08-18..2025-12-18
in the last 3 days: 2026-03-15..2026-03-18
over the past two weeks: 2026-03-04..2026-03-18
in the last week: 2026-03-11..2026-03-18
last Monday: 2026-03-16
on Monday: 2026-03-16
this Friday: 2026-03-20
next Friday: 2026-03-20
last Wednesday: 2026-03-11
on Wednesday: 2026-03-18
Friday of last week: 2026-03-13
last March: 2025-03-01..2025-03-31
in March: 2026-03-01..2026-03-31
in April: 2025-04-01..2025-04-30
this March: 2026-03-01..2026-03-31
next March: 2027-03-01..2027-03-31
in May: 2025-05-01..2025-05-31
last May: 2025-05-01..2025-05-31
March last year: 2025-03-01..2025-03-31
May 2nd: 2025-05-02
May 2nd, 2023: 2023-05-02
2 May 2023: 2023-05-02
May 2023: 2023-05-01..2023-05-31
the 2nd of May: 2025-05-02
on Dec 25: 2025-12-25
2023-05-02: 2023-05-02
2023-05: 2023-05-01..2023-05-31
2023/5/2: 2023-05-02
02.05.2023: 2023-05-02
13/05/2023: 2023-05-13
Q2 2023: 2023-04-01..2023-06-30
in 2022: 2022-01-01..2022-12-31
last summer: 2025-06-01..2025-08-31
summer of 2021: 2021-06-01..2021-08-31
last winter: 2025-12-01..2026-02-28
since last week: 2026-03-09..2026-03-18
since March 2026: 2026-03-01..2026-03-18
two weeks before August 11, 2023: 2023-07-25..2023-07-31
the day after May 2, 2023: 2023-05-03
tomorrow: 2026-03-19
the Sunday before October 25, 2022: 2022-10-23
# Spanish
hoy: 2026-03-18
ayer: 2026-03-17
anteayer: 2026-03-16
anoche: 2026-03-17
la semana pasada: 2026-03-09..2026-03-15
el mes pasado: 2026-02-01..2026-02-28
el año pasado: 2025-01-01..2025-12-31
hace dos semanas: 2026-03-01..2026-03-07
hace 3 días: 2026-03-15
hace un par de semanas: 2026-02-25..2026-03-11
el lunes pasado: 2026-03-16
el lunes: 2026-03-16
en marzo: 2026-03-01..2026-03-31
el 2 de mayo: 2025-05-02
2 de mayo de 2023: 2023-05-02
mayo de 2023: 2023-05-01..2023-05-31
en 2022: 2022-01-01..2022-12-31
los últimos 3 días: 2026-03-15..2026-03-18
este fin de semana: 2026-03-21..2026-03-22
el viernes de la semana pasada: 2026-03-13
# French
aujourd'hui: 2026-03-18
qu'ai-je fait hier: 2026-03-17
hier soir: 2026-03-17
avant-hier: 2026-03-16
la semaine dernière: 2026-03-09..2026-03-15
le mois dernier: 2026-02-01..2026-02-28
l'année dernière: 2025-01-01..2025-12-31
il y a deux semaines: 2026-03-01..2026-03-07
il y a 3 jours: 2026-03-15
il y a quelques jours: 2026-03-13..2026-03-16
lundi dernier: 2026-03-16
lundi: 2026-03-16
en mars: 2026-03-01..2026-03-31
le 2 mai: 2025-05-02
2 mai 2023: 2023-05-02
le 1er mars: 2026-03-01
mai 2023: 2023-05-01..2023-05-31
en 2022: 2022-01-01..2022-12-31
cette semaine: 2026-03-16..2026-03-22
les 3 derniers jours: 2026-03-15..2026-03-18
# German
heute: 2026-03-18
gestern: 2026-03-17
vorgestern: 2026-03-16
gestern Abend: 2026-03-17
letzte Woche: 2026-03-09..2026-03-15
letzten Monat: 2026-02-01..2026-02-28
letztes Jahr: 2025-01-01..2025-12-31
diese Woche: 2026-03-16..2026-03-22
vor drei Tagen: 2026-03-15
vor einer Woche: 2026-03-08..2026-03-14
vor zwei Monaten: 2026-01-03..2026-02-02
vor ein paar Wochen: 2026-02-25..2026-03-11
letzten Montag: 2026-03-16
am Montag: 2026-03-16
im März: 2026-03-01..2026-03-31
am 2. Mai: 2025-05-02
2. Mai 2023: 2023-05-02
im Mai 2023: 2023-05-01..2023-05-31
im Jahr 2022: 2022-01-01..2022-12-31
in den letzten 3 Tagen: 2026-03-15..2026-03-18
morgen: 2026-03-19
am Mittwoch letzter Woche: 2026-03-11
# Portuguese
hoje: 2026-03-18
ontem: 2026-03-17
anteontem: 2026-03-16
semana passada: 2026-03-09..2026-03-15
mês passado: 2026-02-01..2026-02-28
ano passado: 2025-01-01..2025-12-31
há dois dias: 2026-03-16
há 3 semanas: 2026-02-22..2026-02-28
3 dias atrás: 2026-03-15
segunda-feira passada: 2026-03-16
no sábado: 2026-03-14
em março: 2026-03-01..2026-03-31
2 de maio de 2023: 2023-05-02
maio de 2023: 2023-05-01..2023-05-31
em 2022: 2022-01-01..2022-12-31
últimos 3 dias: 2026-03-15..2026-03-18
# Italian
oggi: 2026-03-18
ieri: 2026-03-17
l'altro ieri: 2026-03-16
la settimana scorsa: 2026-03-09..2026-03-15
il mese scorso: 2026-02-01..2026-02-28
l'anno scorso: 2025-01-01..2025-12-31
due settimane fa: 2026-03-01..2026-03-07
3 giorni fa: 2026-03-15
lunedì scorso: 2026-03-16
lunedì: 2026-03-16
a marzo: 2026-03-01..2026-03-31
il 2 maggio: 2025-05-02
2 maggio 2023: 2023-05-02
nel 2022: 2022-01-01..2022-12-31
ultimi 3 giorni: 2026-03-15..2026-03-18
# Dutch
vandaag: 2026-03-18
gisteren: 2026-03-17
eergisteren: 2026-03-16
vorige week: 2026-03-09..2026-03-15
vorige maand: 2026-02-01..2026-02-28
vorig jaar: 2025-01-01..2025-12-31
drie dagen geleden: 2026-03-15
een week geleden: 2026-03-08..2026-03-14
afgelopen maandag: 2026-03-16
op maandag: 2026-03-16
in maart: 2026-03-01..2026-03-31
op 2 mei: 2025-05-02
2 mei 2023: 2023-05-02
in mei 2023: 2023-05-01..2023-05-31
in 2022: 2022-01-01..2022-12-31
afgelopen 3 dagen: 2026-03-15..2026-03-18
# Russian
сегодня: 2026-03-18
вчера: 2026-03-17
позавчера: 2026-03-16
на прошлой неделе: 2026-03-09..2026-03-15
в прошлом месяце: 2026-02-01..2026-02-28
в прошлом году: 2025-01-01..2025-12-31
три дня назад: 2026-03-15
неделю назад: 2026-03-08..2026-03-14
две недели назад: 2026-03-01..2026-03-07
в понедельник: 2026-03-16
в прошлую среду: 2026-03-11
в марте: 2026-03-01..2026-03-31
2 мая: 2025-05-02
2 мая 2023 года: 2023-05-02
в мае 2023 года: 2023-05-01..2023-05-31
в 2022 году: 2022-01-01..2022-12-31
за последние 3 дня: 2026-03-15..2026-03-18
в мае прошлого года: 2025-05-01..2025-05-31
# Chinese
今天: 2026-03-18
昨天: 2026-03-17
前天: 2026-03-16
昨晚: 2026-03-17
上周: 2026-03-09..2026-03-15
上週: 2026-03-09..2026-03-15
这周: 2026-03-16..2026-03-22
上个月: 2026-02-01..2026-02-28
上個月: 2026-02-01..2026-02-28
去年: 2025-01-01..2025-12-31
前年: 2024-01-01..2024-12-31
三天前: 2026-03-15
3天前: 2026-03-15
两周前: 2026-03-01..2026-03-07
兩週前: 2026-03-01..2026-03-07
三个星期前: 2026-02-22..2026-02-28
三個月前: 2025-12-03..2026-01-02
两年前: 2023-09-18..2024-09-16
几天前: 2026-03-13..2026-03-16
上周三: 2026-03-11
上週三: 2026-03-11
周三: 2026-03-18
上个周末: 2026-03-14..2026-03-15
去年三月: 2025-03-01..2025-03-31
5月2日: 2025-05-02
五月二日: 2025-05-02
2023年5月: 2023-05-01..2023-05-31
2023年5月2日: 2023-05-02
3月: 2026-03-01..2026-03-31
过去三天: 2026-03-15..2026-03-18
2022年: 2022-01-01..2022-12-31
下周: 2026-03-23..2026-03-29
明天: 2026-03-19
# Japanese
今日: 2026-03-18
昨日: 2026-03-17
一昨日: 2026-03-16
おととい: 2026-03-16
昨夜: 2026-03-17
今週: 2026-03-16..2026-03-22
先週: 2026-03-09..2026-03-15
先々週: 2026-03-02..2026-03-08
先月: 2026-02-01..2026-02-28
去年: 2025-01-01..2025-12-31
昨年: 2025-01-01..2025-12-31
3日前: 2026-03-15
三日前: 2026-03-15
2週間前: 2026-03-01..2026-03-07
3か月前: 2025-12-03..2026-01-02
3ヶ月前: 2025-12-03..2026-01-02
数日前: 2026-03-13..2026-03-16
先週の水曜日: 2026-03-11
水曜日: 2026-03-18
去年の3月: 2025-03-01..2025-03-31
5月2日: 2025-05-02
2023年5月: 2023-05-01..2023-05-31
3月: 2026-03-01..2026-03-31
過去3日間: 2026-03-15..2026-03-18
2022年: 2022-01-01..2022-12-31
来週: 2026-03-23..2026-03-29
明日: 2026-03-19
先週末: 2026-03-14..2026-03-15
# Korean
오늘: 2026-03-18
어제: 2026-03-17
그저께: 2026-03-16
그제: 2026-03-16
어젯밤: 2026-03-17
지난주: 2026-03-09..2026-03-15
지난 주: 2026-03-09..2026-03-15
이번 주: 2026-03-16..2026-03-22
지난달: 2026-02-01..2026-02-28
지난 달: 2026-02-01..2026-02-28
작년: 2025-01-01..2025-12-31
지난해: 2025-01-01..2025-12-31
재작년: 2024-01-01..2024-12-31
3주 전: 2026-02-22..2026-02-28
3일 전에: 2026-03-15
이틀 전: 2026-03-16
일주일 전: 2026-03-08..2026-03-14
두 달 전: 2026-01-03..2026-02-02
며칠 전: 2026-03-13..2026-03-16
지난 월요일: 2026-03-16
지난주 수요일: 2026-03-11
월요일에: 2026-03-16
작년 3월: 2025-03-01..2025-03-31
3월에: 2026-03-01..2026-03-31
5월 2일: 2025-05-02
2023년 5월: 2023-05-01..2023-05-31
2023년 5월 2일: 2023-05-02
지난 3일: 2026-03-15..2026-03-18
최근 2주: 2026-03-04..2026-03-18
2022년: 2022-01-01..2022-12-31
다음 주: 2026-03-23..2026-03-29
내일: 2026-03-19
지난 주말: 2026-03-14..2026-03-15
"""


def table() -> list[tuple[str, date, date]]:
    rows = []
    for line in PHRASES.strip().splitlines():
        if not line.startswith("#"):
            phrase, _, days = line.rpartition(": ")
            first, _, last = days.partition("..")
            rows.append((phrase, date.fromisoformat(first), date.fromisoformat(last or first)))
    return rows


@pytest.mark.parametrize(("phrase", "start", "end"), table())
def test_a_phrase_means_these_days(phrase: str, start: date, end: date) -> None:
    assert [(period.start, period.end) for period in periods(phrase, TODAY)] == [(start, end)]


NONE = """
how long did the cable last
you may restart the server
may 3 people join the call
May 2 people join?
march 5 km
the march of progress
a march in silence
Mars 2020 rover
I ate 4 mars bars
version 2026.4.10 of the server
upgrade to v2026.04.10
release 2026.4
build 2023.05.02.1
port 8080 is taken
convert 2048 tokens
in 2000 words
what is my last name
the last day of the project
the last year of school
Guten Morgen
am Morgen
ein Morgen im Wald
Was ist hier los?
wo ist der Server hier
hier is de sleutel
por la mañana
second monitor setup
read 3 books a day
retry after 30 seconds
Python 3.11 asyncio
weekly report template
run at 10:30
the 2011-12 season
5/2/2023
3.5 weeks ago
1,000 days ago
3D printing ago
many days ago
open today.md
#march channel
@august wrote
may2 branch
git switch release/march
every Monday standup
each week
on Mondays
spring boot setup
the fall of Rome
2 years of experience
in 3 days
segunda reunião
среда разработки
목요일엔지니어
3일 전체 회의
오늘날
매주 월요일
이번엔
지난번
目前天气
以前的日本
马上处理
每年三月
五月天乐队
永曆十五年七月
400年五月
毎週月曜日
五月雨
明日香
紀元前3年
""".strip().splitlines()


@pytest.mark.parametrize("text", NONE)
def test_what_speaks_of_no_period_gives_none(text: str) -> None:
    assert periods(text, TODAY) == ()


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("What did we decide on May 2nd about the cache?", ["on May 2nd"]),
        ("notes from last week and yesterday", ["last week", "yesterday"]),
        ("Monday, May 2nd, 2023", ["May 2nd, 2023"]),
        ("between August 11 and August 15, 2023", ["August 11", "August 15, 2023"]),
        ("the talk during the June 14 call", ["during the June 14"]),
        ("the last week of May", ["last week of May"]),
        ("memory/2023-05-02.md", ["2023-05-02"]),
        ("2023-05-02T10:30 log", ["2023-05-02"]),
        ("yesterday #ops @monday today.md", ["yesterday"]),
        ("since 2026-03-01", ["since 2026-03-01"]),
        ("지난주에 먹은 것", ["지난주"]),
        ("PR을 어제 올렸다", ["어제"]),
        ("去年3月的会议记录", ["去年3月"]),
        ("先週の水曜日に話した", ["先週の水曜日"]),
        ("３日前の会議", ["３日前"]),
        ("¿Qué hicimos AYER?", ["AYER"]),
        ("cafe\u0301 il y a deux semaines", ["il y a deux semaines"]),
        ("May 2 standup", ["May 2"]),
        ("Dec 25", ["Dec 25"]),
        ("上个星期五下午", ["上个星期五"]),
        ("before 2020", []),
        ("2000年以前", []),
    ],
)
def test_what_was_read_is_told(text: str, phrases: list[str]) -> None:
    assert [period.phrase for period in periods(text, TODAY)] == phrases


def test_august_11_has_the_year_of_august_15() -> None:
    first, _ = periods("between August 11 and August 15, 2023", TODAY)
    assert first.start == date(2023, 8, 11)


@pytest.mark.parametrize(
    ("text", "today", "start", "end"),
    [
        ("yesterday", "2024-03-01", "2024-02-29", "2024-02-29"),
        ("yesterday", "2026-01-01", "2025-12-31", "2025-12-31"),
        ("last month", "2026-01-31", "2025-12-01", "2025-12-31"),
        ("last month", "2024-03-31", "2024-02-01", "2024-02-29"),
        ("a month ago", "2024-03-31", "2024-02-14", "2024-03-15"),
        ("last quarter", "2026-01-05", "2025-10-01", "2025-12-31"),
        ("next quarter", "2025-12-31", "2026-01-01", "2026-03-31"),
        ("this week", "2026-01-01", "2025-12-29", "2026-01-04"),
        ("last week", "2026-01-04", "2025-12-22", "2025-12-28"),
        # A Sunday is the last day of its week; a Monday the first.
        ("this week", "2026-03-22", "2026-03-16", "2026-03-22"),
        ("last week", "2026-03-22", "2026-03-09", "2026-03-15"),
        ("last week", "2026-03-23", "2026-03-16", "2026-03-22"),
        ("last weekend", "2026-03-22", "2026-03-14", "2026-03-15"),
        ("last weekend", "2026-03-23", "2026-03-21", "2026-03-22"),
        ("over the weekend", "2026-03-22", "2026-03-21", "2026-03-22"),
        ("over the weekend", "2026-03-20", "2026-03-14", "2026-03-15"),
        ("last Sunday", "2026-03-22", "2026-03-15", "2026-03-15"),
        ("on Sunday", "2026-03-22", "2026-03-22", "2026-03-22"),
        ("next Sunday", "2026-03-22", "2026-03-29", "2026-03-29"),
        ("on February 29", "2026-03-18", "2024-02-29", "2024-02-29"),
        ("February 29, 2023", "2026-03-18", None, None),
        ("on December 31st", "2026-01-01", "2025-12-31", "2025-12-31"),
        ("in winter", "2026-01-10", "2025-12-01", "2026-02-28"),
    ],
)
def test_at_the_edges_of_the_calendar(text: str, today: str, start: str | None, end: str | None) -> None:
    found = [(str(period.start), str(period.end)) for period in periods(text, date.fromisoformat(today))]
    assert found == ([(start, end)] if start else [])


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("yesterday", True),
        ("2023-05", True),
        ("3 days ago", True),
        ("last week", True),
        ("in March", False),
        ("3 weeks ago", False),
        ("a few days ago", False),
        ("on Monday", False),
        ("May 2nd", False),
    ],
)
def test_what_leaves_room_is_not_exact(text: str, exact: bool) -> None:
    assert [period.exact for period in periods(text, TODAY)] == [exact]
