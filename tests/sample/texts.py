"""The words of the sample: a small company's policies, handbook and wiki, in Chinese and English."""

from tests.sample import planted as p

INTRO = {
    2023: "本制度自2023年3月1日起施行，适用于公司全体员工的国内出差。出差前须在系统中提交申请，由部门负责人批准。",
    2024: "本制度自2024年4月1日起施行，适用于公司全体员工的国内出差，2023年版同时废止。出差前须在系统中提交申请，"
    "由部门负责人批准。",
}
LIMIT = {
    2023: "住宿费报销上限为每晚500元，超出部分由个人承担。",
    2024: "住宿费报销上限为每晚800元，超出部分由个人承担。",
}
TRAVEL = {
    2023: (("城市", "住宿上限（元/晚）", "餐补（元/天）"), ("北京、上海", "500", "100"), ("其他城市", "350", "80")),
    2024: (("城市", "住宿上限（元/晚）", "餐补（元/天）"), ("北京、上海", "800", "150"), ("其他城市", "600", "120")),
}
CLAIM = "员工应在出差结束后15个工作日内提交报销单，并附发票、行程单和审批记录。财务部在收到完整材料后10个工作日内付款。"
LOST = "发票遗失的，由员工书面说明，经部门负责人和财务部共同批准后，可按金额的百分之五十报销。"

SCAN = (
    "采购审批流程",
    "一、金额不足一万元的采购，由部门负责人审批。",
    "二、一万元以上、十万元以下的采购，须取得三家报价，",
    "    由财务总监审批。",
    "三、十万元以上的采购须公开招标，由总经理审批。",
    "四、采购合同由法务部审核后用印，原件交档案室保存十年。",
)

SECURITY = """# 信息安全管理办法

## 一、密码

员工账号的密码至少十二位，须包含字母和数字，每180天更换一次。连续五次输入错误，账号锁定30分钟。

## 二、设备

公司电脑须启用全盘加密。离开座位时应锁屏。遗失设备的，应在两小时内报告信息安全部。

## 三、数据分级

| 级别 | 例子 | 可否外发 |
|---|---|---|
| 公开 | 官网内容 | 可以 |
| 内部 | 会议纪要 | 经部门负责人批准 |
| 机密 | 客户名单、源代码 | 不得外发 |
"""

LEAVE = (
    ("年休假制度", 1),
    ("工作满一年不满十年的员工，每年享有年休假5天；满十年不满二十年的，10天；满二十年的，15天。", 0),
    ("申请", 2),
    ("年休假应提前三个工作日在系统中申请。当年未休的年休假可以顺延至次年3月31日，逾期作废。", 0),
    ("不计入年休假的情形", 2),
    ("国家法定节假日、休息日、产假和婚假不计入年休假。", 0),
)

RETENTION = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Data retention policy</title></head>
<body>
<nav><a href="/">Home</a> <a href="/policies">Policies</a></nav>
<main><h1>Data retention policy</h1>
<p>This policy says how long the company keeps records. It applies to all departments from 1 January 2024.</p>
<h2>Periods</h2>
<table><tr><th>Record</th><th>Kept for</th></tr><tr><td>Invoices</td><td>10 years</td></tr>
<tr><td>Customer support tickets</td><td>24 months</td></tr><tr><td>Access logs</td><td>180 days</td></tr></table>
<h2>Deletion</h2><p>When a period ends, the owner of the system deletes the records within 30 days and writes a note in
the deletion register. Records under legal hold are kept until the legal department lifts the hold.</p></main>
<footer>© The company</footer></body></html>
"""

ONBOARDING = f"""# Onboarding for new colleagues

Welcome. Your first week has three parts.

## Day one

Collect your badge at the front desk before 9:30, sign the confidentiality agreement, and pick up your laptop from IT.

## Your mentor

Every new colleague has a mentor for the first ninety days. Ask the programme lead, Maria Holt
({p.HOLT_MAIL}, {p.HOLT_PHONE}), if you have not heard from yours by noon.

## Probation

The probation period lasts three months. There is a review after six weeks and another one in the last week.
"""

GUIDE = (
    ("新员工入职指南", 1),
    ("报到当天请携带身份证原件、学历证书和一寸照片两张，上午九点到前台领取工牌。", 0),
    ("联系人", 2),
    (
        f"入职手续由人力资源部王芳办理，手机{p.WANG_PHONE}，身份证号{p.WANG_ID}。材料电子版请发到{p.ZHANG_MAIL}。",
        0,
    ),
    ("试用期", 2),
    ("试用期为三个月，期满前一周由直属上级组织转正答辩。", 0),
)

CONTACTS = (
    ("姓名", "部门", "手机", "身份证号"),
    ("张伟", "财务部", p.ZHANG_PHONE, p.ZHANG_ID),
    ("李娜", "行政部", p.LI_PHONE, p.LI_ID),
)

PRICES = (
    ("物品", "规格", "单价（元）", "供应商"),
    ("复印纸", "A4 70克 500张", 22.5, "晨光文具"),
    ("中性笔", "0.5mm 黑色 12支", 18, "晨光文具"),
    ("硒鼓", "LaserJet 12A", 268, "惠普专卖"),
    ("白板", "90×120cm", 145, "得力办公"),
)

SLIDES = (
    ("智能客服平台介绍", "面向制造业客户的知识问答系统，支持私有化部署。"),
    ("主要功能", "多渠道接入；知识库检索；工单流转；满意度分析。单节点支持每秒200次查询。"),
    (
        "Service levels",
        "Standard support answers within 8 business hours, premium support within 1 hour, day and night.",
    ),
)

FAQ = """# 常见问题 FAQ

**问：忘记密码怎么办？**

答：在登录页点击“忘记密码”，用企业邮箱收取验证码后重设；验证码十分钟内有效。

**Q: How do I book a meeting room?**

A: Open the calendar, choose *Rooms*, and pick a slot. Rooms that nobody enters within 15 minutes are released.

**问：班车几点发车？**

答：工作日早上7:40从地铁站A口发车，晚上18:10和20:30从公司东门返程。
"""

INCIDENTS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Incident response</title></head>
<body><article>
<h1>Incident response</h1><p>Anyone who sees an outage calls the on-call engineer and opens an incident channel.</p>
<h2>Severity</h2><ul><li>SEV1: customers cannot work. Answer within 5 minutes.</li>
<li>SEV2: part of the product is slow or wrong. Answer within 30 minutes.</li>
<li>SEV3: an internal tool fails. Answer on the next working day.</li></ul>
<h2>After the incident</h2><p>The incident commander writes a review within five working days. It names causes, never
culprits.</p></article></body></html>
"""

DEPLOY = """# Deploying the gateway

The gateway is deployed from the `release` branch, every Tuesday and Thursday at 14:00.

## Steps

1. Check that the pipeline of the release branch is green.
2. Announce the deployment in the operations channel.
3. Run the command below and watch the error rate for fifteen minutes.

```bash
gatectl deploy --env production --canary 10
```

## Rolling back

If the error rate rises above two percent, run `gatectl rollback --env production`. A rollback takes about ninety
seconds and needs no approval.
"""
DEPLOY_NEAR = DEPLOY.replace("and watch the error rate", "and then watch the error rate").replace(
    "in the operations channel", "in the operations channel first"
)

VPN = """# VPN access

Install the client from the software portal and sign in with your company account. The VPN server is `vpn.example.com`,
port 1194. Sessions end after twelve hours. If the client shows *error 619*, remove the old profile and import it again.
"""

BACKUP = """# 数据库备份

生产数据库每天凌晨2:30做全量备份，每小时做一次增量备份，备份保留35天。

## 恢复演练

每季度第一个月的第二个星期三做恢复演练。恢复时间目标（RTO）为4小时，恢复点目标（RPO）为1小时。演练结果由运维组长记录。
"""

DRAFT = """# 路线图（草稿，勿引用）

TODO：等产品部确认后再写。

- 待定
- ？？？
"""

API = """# Search API

## GET /v1/search

Returns documents that match a query.

| parameter | type | meaning |
|---|---|---|
| q | string | the query, at most 200 characters |
| limit | integer | number of results, 1 to 50, default 10 |

Requests are limited to 60 per minute and key; beyond that the server answers 429.
"""

MINUTES = f"""会议纪要

时间：2024年6月12日  主持：李娜

一、供应商货款。财务部确认收款账户为中国农业银行{p.LI_CARD}，联系人李娜，电话{p.LI_PHONE}。
二、机房搬迁。定于7月6日（星期六）22:00开始，预计停机六小时，由运维组负责。
三、下次会议定于6月26日上午十点。
"""

POSTMORTEM = f"""<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>Incident review 2024-05</title></head>
<body><article><h1>Incident review, May 2024</h1>
<p>On 14 May 2024 the payment service refused cards for 47 minutes. A certificate had expired, and the renewal job
had been disabled during a migration.</p>
<h2>Evidence</h2>
<p>The first failing request used the card {p.HOLT_CARD}; the log line was removed afterwards.</p>
<h2>Actions</h2>
<p>Alerts now fire 21 days before any certificate ends, and the renewal job is checked every night.</p>
</article></body></html>
"""

SOURCES = """# Where documents come from, who owns them, who may read them, and who approves their changes.
knowledge_base: main
sources:
  - name: policies
    location: {policies}
    authority: L1            # binding
    scope: global            # everyone may read
    owner: admin
    review: {{approver: admin}}
  - name: handbook
    location: {handbook}
    authority: L2            # official
    scope: team:staff        # only this team may read
    owner: reviewer
    review: {{approver: owner, deadline_hours: 48, on_timeout: hold}}
  - name: wiki
    location: {wiki}
    authority: L4            # informal
    scope: team:engineering
    owner: reviewer
    exclude: ["*.tmp"]
    # Goes through by itself, but a person looks at these:
    review: {{approver: auto, hold_on: [conflict, hidden_text, injection, big_deletion]}}
# No release goes live that answers these questions worse than the one before.
evaluation:
  sets: [evaluation.jsonl]
"""
