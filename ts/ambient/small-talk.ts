// Words and phrases that say nothing about what a prompt is about: thanks, greetings, politeness, general
// verbs, and the connecting words of "continue with the next step". English by word, Japanese by phrase.

import { isAscii } from "../text/characters.js";
import { normaliseText } from "../text/normalise.js";

/** Thanks, greetings, assent, and requests that name no subject. */
const PHATIC =
  words(`thanks thank thx ty tnx cheers please pls plz hi hello hey hiya yo greetings morning evening
  afternoon night good great nice cool perfect awesome excellent amazing wonderful brilliant lovely fantastic neat ok
  okay k yes yeah yep yup no nope nah sure fine right correct exactly agreed true sounds looks lgtm sorry welcome bye
  goodbye appreciate appreciated appreciation kind regards best wait hmm um uh oh ah wow well done job summarise summarize
  summarised summarized summary recap explain elaborate clarify rephrase repeat shorter longer briefly lot lots much
  everything nothing today tomorrow later soon day weekend`);

/** Words that point at what was said before. */
const CONNECTING =
  words(`continue continues continuing next step steps proceed go going ahead keep carry forward
  further resume move moving start started begin finish done same previous last above below option options one
  first second third way rest remaining retry redo undo back along implement apply do does
  anyway fix fixes change changes`);

/** General words: too common to tell one memory from another, in any store. */
const GENERAL =
  words(`want wants wanted need needs needed know knows help helps make makes making made use uses used
  using get look looking see think thinks try trying let lets tell show give find check ask say said take put like
  question questions thing things something anything really actually maybe still now new old work works working
  worked write writing run running add adding create creating update updating change changing set setting please could
  idea ideas problem issue example examples possible quick quickly simple simply sure able want currently instead
  better different part parts case sort kind bit little many another every each time times people`);

/** The same in Japanese, as the pairs of characters that the words index knows. */
const GENERAL_GRAMS =
  words(`方法 原因 意味 説明 確認 処理 変更 修正 追加 作成 削除 検討 問題 場合 必要 部分 全部 実装 対応
  作っ 作り 作る 書い 書き 書く 直し 直す 教え 調べ 知り 知る 使い 使っ 使う 見つ 見せ 見て 欲し ほし 下さ 三つ 一つ 二つ ひと とつ 何で
  何だ 何が 何を 何時 何の どれ 気が 感じ 今日 今回 行う 行い 行っ 出し 出す 動か 決め 合わ 取り 大丈 丈夫 仕方 やり 内容 自分 最近 以下 以上
  てほ ほし しい いい お願 願い 進め 進み 思い 思う 思っ 考え 言っ 聞い`);

export function isGeneralGram(term: string): boolean {
  return GENERAL_GRAMS.has(term);
}

const JA_PHATIC = phrases([
  "ありがとう(?:ございます|ございました|ね)?",
  "有難う(?:ございます|ございました)?",
  "感謝(?:します|です|いたします)?",
  "助かり(?:ます|ました)",
  "助かった",
  "お疲れ(?:様|さま)?(?:です|でした)?",
  "ご苦労(?:様|さま)(?:です|でした)?",
  "おはよう(?:ございます)?",
  "こんにちは",
  "こんばんは",
  "おやすみ(?:なさい)?",
  "はじめまして",
  "よろしく(?:お願い(?:します|いたします|致します))?",
  "お願い(?:します|いたします|致します|できますか|しますね)?",
  "了解(?:です|しました|いたしました)?",
  "承知(?:です|しました|いたしました)?",
  "(?:わ|分|解)かり(?:ました|ます)",
  "(?:わ|分|解)かった",
  "なるほど(?:です)?",
  "確かに",
  "そうです(?:ね|か)?",
  "いいですね?",
  "良いですね?",
  "良さそう(?:です)?",
  "大丈夫(?:です)?",
  "問題(?:ない|ありません|なさそう)(?:です)?",
  "素晴らしい(?:です)?",
  "すごい(?:です)?",
  "完璧(?:です)?",
  "最高(?:です)?",
  "すみません",
  "ごめん(?:なさい)?",
  "(?:まとめ|要約し|説明し|教え|見せ)(?:て)?(?:ください|下さい|もらえますか|いただけますか|くれる|ほしい|欲しい)?",
  "詳しく",
  "もう(?:一度|少し)",
  "はい|ええ|うん|いいえ|いや|おk|おけ|オーケー|オッケー",
]);

const JA_CONNECTING = phrases([
  "次(?:の|に|へ)?",
  "ステップ",
  "フェーズ",
  "手順",
  "段階",
  "続(?:き|け)(?:て|を|で|から)?",
  "続行(?:して)?",
  "進(?:み|め|ん|む|もう)(?:ま|て|で|た)?(?:しょう|ください)?",
  "先(?:に|へ)",
  "その(?:まま|まんま|方向|通り|とおり|調子|案|方針)",
  "それ(?:で|を|に)?",
  "これ(?:で|を|に)?",
  "さっきの|先ほどの|前の|上の|今の|残り(?:の|も|を)?",
  "同じ(?:ように|く)?",
  "(?:お|御)?(?:任|まか)せ(?:します|る)?",
  "実(?:装|行)(?:して|しましょう|をお願い)?",
  "修正(?:して|しましょう)?",
  "やり直(?:し|して)",
  "やって(?:ください|みて|みましょう)?",
  "始め(?:て|ましょう)",
]);

/** Endings and joints that remain when the phrases above are taken out. */
const JA_JOINTS = phrases([
  "(?:それ)?では|じゃあ?|とりあえず|まず(?:は)?|今日|本日|今回|いつも|本当に|とても|どうも|ちょっと|さて",
  "ください(?:ね)?|下さい|くださいませ|しましょう|ましょう|しよう|して(?:いい|良い|も)?|です(?:か|ね|よ)?|ます(?:か|ね|よ)?|ました|でしょう(?:か)?|だ(?:ね|よ)?|ね|よ|か|お",
  "[はがをにのともでへや]",
]);

const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u;
/** The same as the next for ASCII, without its cold start. */
const ASCII_WORD = /[A-Za-z0-9_]+(?:'[A-Za-z]+)?/g;
const WORD = /[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}]+)?/gu;

export interface SubjectText {
  /** the prompt without small talk: what is left says what it is about */
  readonly text: string;
  /** a connecting word was among what was taken out */
  readonly connects: boolean;
}

/** Takes small talk, connecting words and general words out of a prompt. */
export function subjectOf(prompt: string): SubjectText {
  const plain = normaliseText(prompt);
  let connects = false;
  const withoutJapanese = JAPANESE.test(plain) ? takeOutJapanese(plain) : { text: plain, connects: false };
  connects ||= withoutJapanese.connects;
  const text = withoutJapanese.text.replace(isAscii(plain) ? ASCII_WORD : WORD, (word) => {
    const folded = word.toLowerCase().replace(/['’].*$/, "");
    if (CONNECTING.has(folded)) connects = true;
    else if (!PHATIC.has(folded) && !GENERAL.has(folded) && !/^\d$/.test(folded)) return word;
    return " ";
  });
  return { text, connects };
}

function takeOutJapanese(plain: string): SubjectText {
  const connects = JA_CONNECTING.test(plain);
  const text = plain
    .replace(global(JA_PHATIC), " ")
    .replace(global(JA_CONNECTING), (found) => (isInsideWord(found) ? found : " "));
  // A text with nothing but joints left is empty; joints inside a real sentence are the tokeniser's business.
  return { text: /[^\s\p{P}\p{S}]/u.test(text.replace(global(JA_JOINTS), "")) ? text : " ", connects };
}

/** Phrases of one kanji are too short to be taken out of a compound: only the joint forms go. */
function isInsideWord(found: string): boolean {
  return /^\p{Script=Han}$/u.test(found);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function phrases(list: readonly string[]): RegExp {
  return new RegExp(list.map((phrase) => `(?:${phrase})`).join("|"), "u");
}

const globals = new Map<RegExp, RegExp>();

function global(pattern: RegExp): RegExp {
  let made = globals.get(pattern);
  if (made === undefined) {
    made = new RegExp(pattern.source, "gu");
    globals.set(pattern, made);
  }
  return made;
}
