"""Words that every question is made of, folded, in English and Spanish. They decide no search.

Pronouns of the first person are not among them: in notes and dialogues they tell who is meant.
"""

from __future__ import annotations

_ARTICLES_AND_PREPOSITIONS = """
    a an the in of on at for to from by with as about into and or but if so than then too also such just any
    some
"""
_VERB_FORMS = """
    is are was were be been being am isn s do does did doing don t have has had having can could would should
    will ll ve re d m
"""
_PRONOUNS_AND_QUESTION_WORDS = """
    what when where which who whom whose why how many much this that these those there it its they them their
    theirs he him his she her hers you your yours
"""
_SPANISH = """
    al algo ante como con contra cual cuales cuando cuanto cuantos cuantas cuanta de del desde donde durante
    e el ella ellas ellos en entre era eran es esa esas ese eso esos esta estan estas este esto estos fue
    fueron ha habia habian han hasta hay la las le les lo los mas muy nos o os para pero por porque que quien
    quienes se segun ser si sido sin sobre son su sus tambien tenia tiene tienen todo todos tu tus u un una
    unas uno unos y ya
"""

STOP_WORDS = frozenset(
    f"{_ARTICLES_AND_PREPOSITIONS} {_VERB_FORMS} {_PRONOUNS_AND_QUESTION_WORDS} {_SPANISH}".split()
)
