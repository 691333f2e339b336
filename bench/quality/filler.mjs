// Any number of distinct memories, English and Japanese, about things that a team and a household note down.
// Seeded: the same seed gives the same texts.

const EN = {
  who: "Maria Tom Priya Ivan Chen Fatima Oskar Lena Raj Sofia Ahmed Ingrid Pablo Noor Yuki Elif Marco Hanna Diego Zoe".split(
    " ",
  ),
  team: "the search team|the data group|accounting|the support desk|the design crew|the garden club|the school board|the firmware team|marketing|the night shift|the choir|the harbour office|the lab|the logistics desk".split(
    "|",
  ),
  thing:
    "ranking model|newsletter|greenhouse|router firmware|onboarding guide|ticket queue|color palette|budget sheet|orchid bed|parking permit|bicycle rack|label printer|holiday roster|sensor array|conference booth|pricing page|training video|wine cellar|heating valve|piano lesson|bus schedule|contract draft|backup drive|survey form|kitchen shelf|customs form|drone battery|poster print|tax folder|hiking map".split(
      "|",
    ),
  verb: "moved to|depends on|was replaced by|must be reviewed before|shares its schedule with|is blocked by|was approved after|is documented next to|gets its numbers from|failed because of|should be shipped with|was merged into".split(
    "|",
  ),
  when: "in early spring|last Thursday|during the audit|before the summer break|after the merger|at the end of the quarter|on the first Monday|during the storm|in week 42|before the holidays".split(
    "|",
  ),
  why: "because the supplier changed|since the old one leaked|to save about an hour a week|after two complaints|on the advice of the insurer|to keep the neighbours happy|as the license ran out|since nobody read the long form".split(
    "|",
  ),
};
const JA = {
  who: "田中さん 鈴木さん 高橋さん 伊藤さん 渡辺さん 中村さん 小林さん 加藤さん 吉田さん 山口さん 松本さん 井上さん".split(
    " ",
  ),
  thing:
    "見積書 社員名簿 花壇 配送計画 座席表 水質検査 貸出台帳 音響設備 駐車場 町内会費 展示パネル 予備電源 発注システム 健康診断 避難経路 仕入れ価格 資料室 防犯カメラ 合唱の楽譜 登山道具 英会話教室 観測データ 製氷機 古い顕微鏡".split(
      " ",
    ),
  when: "先週 月末に 梅雨の前に 監査の後で 昨年度 台風の日に 週明けに 棚卸しの際".split(" "),
  act: "更新した 見直すことにした 倉庫へ移した 業者に依頼した 二重に確認した 廃止した 共有フォルダに置いた 半分に減らした 予算に加えた 担当を交代した".split(
    " ",
  ),
  why: "経費を抑えるため 苦情が二件あったので 保証が切れたため 人手が足りないので 場所が狭いため 数字が合わなかったので 法令が変わったため".split(
    " ",
  ),
};

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function* fillers(count, seed = 7) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const seen = new Set();
  for (let made = 0; made < count; ) {
    const text =
      next() < 0.6
        ? `${pick(EN.who)} from ${pick(EN.team)} noted that the ${pick(EN.thing)} ${pick(EN.verb)} the ${pick(EN.thing)} ${pick(EN.when)}, ${pick(EN.why)} (item ${100 + Math.floor(next() * 9900)}).`
        : `${pick(JA.who)}が${pick(JA.when)}、${pick(JA.thing)}と${pick(JA.thing)}を${pick(JA.act)}。${pick(JA.why)}。整理番号は${100 + Math.floor(next() * 9900)}。`;
    if (seen.has(text)) continue;
    seen.add(text);
    made++;
    yield text;
  }
}
