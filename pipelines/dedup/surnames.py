"""First characters of common Chinese names (百家姓 and later counts)."""

UNMISTAKABLE = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯董曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余潘杜姚谭廖邹"
)
"""Those that are no everyday word when they stand alone."""
SURNAMES = UNMISTAKABLE | frozenset(
    "萧程戴夏钟汪田任姜范方石熊金陆郝孔白崔康毛邱秦江史顾侯候邵孟龙段雷钱汤尹黎易常武乔贺赖龚文阎欧司诸葛于尤施严华戚柏窦"
    "章云鲁韦昌苗花俞柳鲍费廉岑倪滕殷毕安乐时齐伍卜穆祁狄米贝谈茅庞纪舒屈项祝阮蓝席季麻路童颜梅盛刁樊凌霍虞柯管莫房解宗"
    "宣单洪左吉邢滑裴荣翁荀甄曲封储靳焦牧车全班仇甘厉符景束幸"
)
