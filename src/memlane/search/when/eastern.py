"""How Russian, Chinese, Japanese and Korean speak of days: tables as in `western`. Pure.

Words without spaces are cut from the text longest first; what a phrase lists is known, and all else stands
between. Chinese forms are those of both scripts: the traditional characters are read as the simplified.
"""

from __future__ import annotations

RUSSIAN = """
triggers: позапрошлой позапрошлом позапрошлый позапрошлую выходные выходных предыдущем этих следующие
    последнее сегодня вчера позавчера завтра послезавтра назад прошлой прошлую прошлом прошлый прошлого
    прошлые прошлое прошлых этой этом эту этот этого эти следующей следующую следующем следующий последние
    последних последнюю последний понедельник вторник среду четверг пятницу субботу воскресенье
years: в за с до после году года год г
numbers: один|одну|одна два|две три четыре пять шесть семь восемь девять десять
some: пару|пара|пары несколько|нескольких много
day: день дня дней дни
week: неделя неделю недели недель неделе
month: месяц месяца месяцев месяце месяцы
quarter: квартал квартала кварталов квартале
year: год года лет году годы
weekend: выходные выходных
weekdays: понедельник|понедельника вторник|вторника среду|среды четверг|четверга пятницу|пятницы
    субботу|субботы воскресенье|воскресенья
seasons: весной|весны|весну летом|лета|лето осенью|осени|осень зимой|зимы|зиму
months: январе|январь феврале|февраль марте|март апреле|апрель мае|май июне|июнь июле|июль августе|август
    сентябре|сентябрь октябре|октябрь ноябре|ноябрь декабре|декабрь
0 day: сегодня
-1 day: вчера / вчера вечером|утром|ночью
-2 day: позавчера
+1 day: завтра
+2 day: послезавтра
0 weekend: на|в выходных|выходные
-1: на|в|за? прошлой|прошлую|прошлом|прошлый|прошлые|прошлых|прошлое|предыдущем {unit} / прошлого {unit}
    / в? прошлый|прошлую|прошлое {weekday} / в? прошлом|прошлого {month} / прошлой|прошлым|прошлую {season}
-2: позапрошлой|позапрошлом|позапрошлый|позапрошлую {unit}
0: на|в|за? этой|этом|эту|этот|эти|этих|этого {unit} / в? этот|эту|это {weekday} / этой|этим {season}
+1: на|в? следующей|следующем|следующий|следующую|следующие {unit}
    / в? следующий|следующую|следующее {weekday}
in -1 week: в? {weekday} на прошлой неделе / на прошлой неделе в {weekday}
in -1 year: в? {month} прошлого года / {day} {month} прошлого года / прошлой|прошлым {season}
    / {season} прошлого года
ago: {n} {unit} назад / {some} {unit} назад
ago 1: {unit} назад
within: за|в? последние|последних {n} {unit}
within 1: за последний|последнюю|последнее {unit}
written: в|во {weekday} / в|к|за {month} / в|к|за? {month} {year} года|г? / {day} {month} {year}? года|г?
    / в? {year} году|г|год|года / {season} {year} года|г?
since: с|со|начиная с?
before: до / за {n} {unit} до
after: после / через {n} {unit} после
none: каждый|каждую|каждое {unit}|{weekday} / последний день
"""

CHINESE = """
triggers: 天 日 周 星期 礼拜 月 年 晚 早 季
some: _ 几|数 多
day: 天 日
week: 周 星期 礼拜
month: 个月 月
quarter: 季度
year: 年
weekend: 周末
weekdays: 周一|星期一|礼拜一 周二|星期二|礼拜二 周三|星期三|礼拜三 周四|星期四|礼拜四 周五|星期五|礼拜五
    周六|星期六|礼拜六 周日|周天|星期日|星期天|礼拜日|礼拜天
seasons: 春天|春季 夏天|夏季 秋天|秋季 冬天|冬季
0 day: 今天 早上|晚上|下午|上午? / 今日 / 今晚 / 今早
-1 day: 昨天 / 昨日 / 昨晚 / 昨夜 / 昨天 早上|晚上|下午|上午
-2 day: 前天 / 前晚
-3 day: 大前天
+1 day: 明天 / 明日 / 明晚
+2 day: 后天
0 year: 今年 / 本年 度?
-1 year: 去年 / 上年 度?
-2 year: 前年
+1 year: 明年
0 month: 本月 / 这 个月
-1 month: 上月
+1 month: 下月
-1: 上 个? {unit} / 去年 {season}
-2: 上上 个? {unit}
0: 这|本 个? {unit} / 今年 {season}
+1: 下 个? {unit}
in -1 week: 上 个? {weekday}
in 0 week: 这|本 个? {weekday}
in +1 week: 下 个? {weekday}
in -1 year: 去年 的? {m} 月 初|底|份|中旬|上旬|下旬? / 去年 的? {m} 月 {day} 日|号
in 0 year: 今年 的? {m} 月 初|底|份|中旬|上旬|下旬? / 今年 的? {m} 月 {day} 日|号
in -2 year: 前年 的? {m} 月 份? / 前年 的? {m} 月 {day} 日|号
ago: {n} 个? {unit} 前|之前|以前 / {some} 个? {unit} 前|之前|以前
ago 3 day: 前 几 天 / 前些天
ago 2 day: 前 两 天
within: 近|最近|过去|这 {n} 来? 个? {unit} / 近|最近|过去|这 {some} 个? {unit}
ahead: {n} 个? {unit} 后|之后|以后
written: {weekday} / {m} 月 初|底|份|中旬|上旬|下旬? / {m} 月 {day} 日|号 / {year} 年
    / {year} 年 的? {m} 月 份? / {year} 年 {m} 月 {day} 日|号 / {year} 年 的? {season}
none: 目前 / 以前 / 之前 / 日本 / 马上 / 后天 性|的|免疫|形成|培养|努力|因素
    / 每 个? {unit}|{weekday}|{season} / 每年 / 每年 {m} 月 / 先天 / 半天 / 生日 / 节日 / 周年 / 月亮 / 月球
    / 周围 / 一周年 / 上年纪 / 公元 {n} 年 / 今日 头条 / 明日 之 / 以上 / 以下 / 早上 / 晚上 / 地下 / 天下
    / 下周期 / 上周期 / 前后 / 月份 / 年代 / 五月天 / 上 天|日 / 下 天|日 / 这 天 / {n} 年 {m} 月
    / {n} 年 {m} 月 {day} 日|号 / 哪 {n} {unit} 前|之前|以前|后|之后|以后? / {year} 年 以前|之前|前
"""

JAPANESE = """
triggers: 日 週 月 曜 年 晩 朝 夜 おととい
some: 二三 数 十数
day: 日 日間
week: 週間 週
month: か月 ヶ月 ケ月 カ月 ヵ月 ｹ月 箇月 か月間 ヶ月間 カ月間
year: 年 年間
quarter: 四半期
weekend: 週末
weekdays: 月曜|月曜日 火曜|火曜日 水曜|水曜日 木曜|木曜日 金曜|金曜日 土曜|土曜日 日曜|日曜日
seasons: 春 夏 秋 冬
0 day: 今日 / 本日 / 今朝 / 今晩 / 今夜
-1 day: 昨日 / 昨夜 / 昨晩
-2 day: 一昨日 / おととい
+1 day: 明日
+2 day: 明後日
0 week: 今週
-1 week: 先週
-2 week: 先々週
+1 week: 来週
0 month: 今月 / 本月
-1 month: 先月
-2 month: 先々月
+1 month: 来月
0 year: 今年 / 本年
-1 year: 去年 / 昨年
-2 year: 一昨年
+1 year: 来年
-1 weekend: 先週末 / 先週 の 週末
0 weekend: 今週末 / 今週 の 週末
-1: この前|前|先日 の {weekday} / 去年|昨年 の {season}
0: 今年 の {season}
in -1 week: 先週 の? {weekday}
in 0 week: 今週 の? {weekday}
in +1 week: 来週 の? {weekday}
in -1 year: 去年|昨年 の? {m} 月 / 去年|昨年 の? {m} 月 {day} 日
in 0 year: 今年 の? {m} 月 / 今年 の? {m} 月 {day} 日
in -2 year: 一昨年 の? {m} 月
ago: 約? {n} {unit} 前 / {some} {unit} 前
within: この|ここ|過去|直近|最近 の? {n} {unit} / この|ここ|過去|直近|最近 の? {some} {unit}
ahead: {n} {unit} 後
written: {weekday} / {m} 月 / {m} 月 {day} 日 / {year} 年 / {year} 年 の? {m} 月 / {year} 年 {m} 月 {day} 日
    / {year} 年 の {season}
none: 日本 / 毎年 / 毎年 {m} 月 / 毎週 {weekday} / 毎週 / 毎月 / 毎日 / 明日香 / 今日的 / 今日性
    / 紀元前 {n} 年 / 一日中 / 昨日今日 / 生年月日 / 年月日 / 曜日 / 前後 / 年代 / 今日子 / 五月雨 / 五月病
    / {n} 年 {m} 月 / {n} 年 {m} 月 {day} 日 / 何 {unit} 前|後? / {year} 年 以前
"""

KOREAN = """
triggers: 엊저녁 그끄저께 금주 올봄 올여름 올가을 올겨울 요 과거 후 뒤 오늘 어제 그저께 그제 엊그제 내일
    모레 이번 지난 다음 저번 전 월 년 작년 올해 금년 내년 최근 요일 밤 주말 이달
numbers: 한|일|하루 두|이 세|석|삼 네|넉|사 다섯|오 여섯|육 일곱|칠 여덟|팔 아홉|구 열|십
some: _ 몇|며 수
day: 일 날 칠
week: 주 주일 주간
month: 달 개월
quarter: 분기
year: 년 해
weekend: 주말
weekdays: 월요일 화요일 수요일 목요일 금요일 토요일 일요일
seasons: 봄 여름 가을 겨울
0 day: 오늘 / 오늘 아침|밤|저녁|오후|오전
-1 day: 어제 / 어제 아침|밤|저녁|오후|오전 / 어젯밤 / 간밤 / 지난밤 / 지난 밤 / 엊저녁
-2 day: 그저께 / 그제 / 그젯밤
-3 day: 그끄저께
+1 day: 내일
+2 day: 모레
0 month: 이달
0 year: 올해 / 금년
-1 year: 작년 / 지난해
-2 year: 재작년
+1 year: 내년
written weekend: 주말 에
-1: 지난|저번 {unit} / 지난|저번 {weekday} / 지난|저번 {m} 월 / 지난|작년 {season}
-2: 지지난|저저번 {unit}
0: 이번|금 {unit} / 이번 {weekday} / 이번|올 {season}
+1: 다음 {unit} / 다음 {weekday} / 다음 {m} 월
in -1 week: 지난|저번 주 의|에? {weekday}
in 0 week: 이번 주 의|에? {weekday}
in +1 week: 다음 주 의|에? {weekday}
in -1 year: 작년|지난해 의|에? {m} 월 / 작년|지난해 의|에? {m} 월 {day} 일
in 0 year: 올해|금년 의|에? {m} 월 / 올해|금년 의|에? {m} 월 {day} 일
in -2 year: 재작년 의|에? {m} 월
ago: 약? {n} {unit} 전 / {some} {unit} 전
ago 1 day: 하루 전
ago 2 day: 이틀 전 / 엊그제 / 엊그저께
ago 3 day: 사흘 전
ago 4 day: 나흘 전
ago 5 day: 닷새 전
ago 10 day: 열흘 전
ago 15 day: 보름 전
ago 1 week: 일주일 전
within: 지난|최근|요|과거 {n} {unit} / 지난|최근|요|과거 {some} {unit}
within 1 week: 지난|최근 일주일
ahead: {n} {unit} 후|뒤
written: {weekday} / {m} 월 / {m} 월 {day} 일 / {year} 년 / {year} 년 의|에? {m} 월
    / {year} 년 {m} 월 {day} 일 / {year} 년 {season}
none: 오늘날 / 그제야 / 그제서야 / 내일모레 / 매주 {weekday} / 매년 {m} 월 / 매년 / 매월 / 매주 / 지난번
    / 이번엔 / 다음날 / {n} 개월 / 기원전 {n} 년 / {year} 년 이전
"""
