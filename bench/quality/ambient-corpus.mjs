// Texts for measuring ambient recall, all written for this purpose: the golden corpus (12 memories, 6 queries
// over three axes), a heavy persona, a correction, prompts with and without an answer, small talk.

export const SMOKE_TAG = "smoke-test";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** 12 memories, Japanese and English mixed as people mix them. `ageMs` is how long ago they were said. */
export const MEMORIES = [
  {
    id: "log-fusion",
    kind: "agent",
    tags: ["retrieval"],
    ageMs: 20 * DAY,
    text: "検索の候補プールは、語彙検索 (FTS5 の BM25) とベクトル検索を RRF で融合して作ることにした。短い日本語は文字 2-gram で索引する。",
  },
  {
    id: "log-persona",
    kind: "agent",
    tags: ["retrieval", "persona"],
    ageMs: 45 * DAY,
    text: "Declared values pull related memories closer: the persona line is chosen by the prompt's meaning, never by how often a persona was used.",
  },
  {
    id: "log-breakdown",
    kind: "agent",
    tags: ["observability"],
    ageMs: 10 * DAY,
    text: "検索結果の各行にスコアの内訳 (raw cosine, virtual cosine, mass) を付けて、なぜ選ばれたかを利用者が確かめられるようにした。",
  },
  {
    id: "log-mass",
    kind: "agent",
    tags: ["physics"],
    ageMs: 90 * DAY,
    text: "同じ文書から切り出した断片どうしでは質量を増やさない。断片が多い本が検索結果を独占してしまったため。",
  },
  {
    id: "log-gravity",
    kind: "agent",
    tags: ["physics"],
    ageMs: 60 * DAY,
    text: "重力波の伝播は種となる記憶から始まり、段ごとに減衰し、深さ 3 で打ち切る。",
  },
  {
    id: "log-hook",
    kind: "agent",
    tags: ["ambient"],
    ageMs: HOUR,
    text: "The prompt hook reads the last two prompts from the transcript tail and prints the ambient block, or nothing at all.",
  },
  {
    id: "value-literal",
    kind: "value",
    tags: ["values"],
    ageMs: 80 * DAY,
    text: "観察したことを文字どおりに書く。抽象的な言葉に逃げない。",
  },
  {
    id: "value-calibrate",
    kind: "value",
    tags: ["values"],
    ageMs: 30 * DAY,
    text: "Measure before changing a default: calibrate the instrument first, then compare embedders on the same questions.",
  },
  {
    id: "intention-ambient",
    kind: "intention",
    tags: ["intentions"],
    ageMs: 25 * DAY,
    text: "アンビエント想起の人格行が、プロンプトの内容に合うものを選ぶようにする。",
  },
  {
    id: "intention-parity",
    kind: "intention",
    tags: ["intentions"],
    ageMs: 5 * DAY,
    text: "Keep the MCP tools and the REST endpoints in step: every new argument lands in both interfaces in one commit.",
  },
  {
    id: "smoke",
    kind: "intention",
    tags: [SMOKE_TAG],
    ageMs: DAY,
    text: "smoke rehearsal intention: keep protocol outputs byte identical for the placeholder run",
  },
  {
    id: "cooking",
    kind: "note",
    tags: ["cooking"],
    ageMs: 3 * DAY,
    text: "味噌汁は火を止めてから味噌を溶く。沸騰させると香りが飛ぶ。",
  },
];

/** 6 queries over three axes. */
export const QUERIES = [
  {
    axis: "direct",
    query: "語彙検索とベクトル検索の候補プールをどう融合するんだっけ？",
    direct: ["log-fusion"],
  },
  {
    axis: "direct",
    query: "How does the prompt hook read the transcript, and what does the ambient block print?",
    direct: ["log-hook"],
  },
  {
    axis: "persona",
    query: "アンビエント想起の人格行がプロンプトに合っていない気がする",
    persona: "intention-ambient",
  },
  {
    axis: "persona",
    query:
      "Let us measure first: calibrate and compare the embedders on the same questions before we change a default",
    persona: "value-calibrate",
  },
  {
    axis: "persona",
    query: "Add the new argument to the MCP tools and the REST endpoints, both interfaces in step",
    persona: "intention-parity",
  },
  {
    axis: "exclude",
    query: "smoke rehearsal: keep the protocol outputs byte identical for the placeholder run",
    excludeTags: [SMOKE_TAG],
    never: "smoke",
  },
];

/** One persona that was used a thousand times, about something else. */
export const HEAVY = {
  id: "heavy",
  kind: "intention",
  tags: [],
  ageMs: 60 * DAY,
  uses: 1000,
  text: "新しい個展のウェブサイトを秋までに公開する。作品の写真を大きく見せたい。",
};

/** A correction: the older statement must give way to the newer one. */
export const CORRECTION = {
  old: "Deploys to production happen on Friday afternoon after the team lunch.",
  new: "Production deploys moved to Tuesday morning since the Friday outage.",
  query: "when do we deploy to production, Friday afternoon?",
};

/** Memories with a prompt each that they answer: what a coding agent's user would type. */
export const ANSWERED = [
  [
    "The staging database lives on host db-staging-2 and is wiped every Sunday night.",
    "where does our staging database live and when is it wiped?",
  ],
  [
    "We chose pnpm over npm because the monorepo's installs took nine minutes.",
    "let's set up the package manager for the monorepo, install times matter",
  ],
  [
    "Error E4021 means the signing key has expired; rotate it with scripts/rotate-key.sh.",
    "the build fails with E4021, what is going on?",
  ],
  [
    "Kenji prefers tabs over spaces and hates semicolons in JavaScript.",
    "format this javascript file the way Kenji prefers",
  ],
  [
    "The billing service must stay on Node 18 until the invoice PDF library is replaced.",
    "can we upgrade the billing service to the latest Node?",
  ],
  [
    "The flaky test checkout.spec.ts fails when the clock crosses midnight UTC.",
    "checkout.spec.ts failed again last night, please look into it",
  ],
  [
    "Feature flags are read from Consul, never from environment variables.",
    "add a feature flag for the new search page",
  ],
  [
    "The customer Northwind pays by bank transfer only and needs invoices in Norwegian.",
    "write an invoice email to Northwind",
  ],
  [
    "Our retry policy is three attempts with exponential backoff starting at 200 ms.",
    "implement retries for the payment client according to our policy",
  ],
  [
    "The mobile app's minimum supported Android version is 9 because of the warehouse scanners.",
    "which Android version do we have to support in the mobile app?",
  ],
  [
    "Dr. Alvarez asked for the clinical report in plain language, at most two pages.",
    "draft the clinical report for Dr. Alvarez",
  ],
  [
    "Redis evicts sessions under memory pressure, so carts are kept in Postgres.",
    "should shopping carts go into Redis or somewhere else?",
  ],
  [
    "Logs are kept 14 days for GDPR reasons; audit logs are kept 7 years.",
    "configure log retention for the new cluster",
  ],
  [
    "The office coffee machine's descaling code is 2580.",
    "what was the descaling code of the coffee machine?",
  ],
  [
    "Translations are done by Lokalise; never edit the locale JSON files by hand.",
    "update the german locale file with the new strings",
  ],
  [
    "The camera calibration drifts with temperature; warm the rig up for 20 minutes first.",
    "the camera calibration looks off this morning",
  ],
  [
    "ステージング環境のデータベースは毎週日曜の夜に初期化される。",
    "ステージング環境のデータベースはいつ初期化されますか？",
  ],
  [
    "山田さんは議事録を箇条書きで、結論を先頭に書いてほしいと言っていた。",
    "山田さん向けに今日の会議の議事録をまとめて",
  ],
  [
    "決済サービスのタイムアウトは 3 秒。銀行側の上限が 5 秒のため。",
    "決済サービスのタイムアウト値を設定したい",
  ],
  ["本番リリースは火曜の午前のみ。金曜のリリースは障害以降禁止。", "金曜に本番リリースしても大丈夫？"],
  [
    "ログの文字コードは UTF-8 で統一。Shift_JIS の取込みは変換バッチを通す。",
    "Shift_JIS のログファイルを取り込む処理を書いて",
  ],
  [
    "経費精算は月末締め、翌月 10 日払い。領収書は PDF で提出する。",
    "経費精算の締め日と領収書の出し方を教えて",
  ],
  [
    "検索画面の並び順は人気順ではなく新着順にする、と企画会議で決めた。",
    "検索画面の並び順の実装をお願いします",
  ],
  ["温室の湿度センサーは電池が切れると 0 を返し続ける。", "温室の湿度センサーの値が 0 のままです"],
  ["佐藤さんの結婚式は 6 月 14 日、京都の料亭で行う。", "佐藤さんの結婚式の日程と場所を確認したい"],
  [
    "社内 API の認証は OAuth ではなく mTLS を使う。証明書は年に一度更新する。",
    "社内 API の認証方式に合わせてクライアントを作って",
  ],
  [
    "画像アップロードの上限は 8MB。超えたら縮小してから保存する。",
    "画像アップロードのサイズ制限を実装したい",
  ],
  ["祖母のレシピでは筑前煮に干し椎茸の戻し汁を必ず入れる。", "筑前煮を作るときの祖母のコツは何だった？"],
  ["バッチ処理は午前 2 時から 4 時の間に実行し、それ以外は禁止。", "夜間のバッチ処理を何時に動かすべき？"],
  ["新人研修の教材は Git の章から始め、SQL は三週目に回す。", "新人研修の教材の順番を決めたい"],
].map(([memory, prompt]) => ({ memory, prompt }));

/** Prompts that no memory answers: everyday work about things the store has never heard of. */
export const UNANSWERED = [
  "rename the variable foo to userCount in utils.py",
  "why does the CSS grid overflow on narrow screens?",
  "write a regular expression that matches ISO dates",
  "explain how a B-tree splits its nodes",
  "convert this bash loop to python",
  "the docker image is 2 GB, make it smaller",
  "add type hints to the parser module",
  "please write a haiku about autumn leaves",
  "how do I center a div vertically?",
  "refactor this function so that it has no side effects",
  "what is the difference between TCP and UDP?",
  "generate ten random names for a fantasy tavern",
  "the unit tests take four minutes, can you speed them up?",
  "translate this paragraph into french",
  "make the button blue and add a hover effect",
  "I get a segmentation fault when I free the list twice",
  "set up a github action that runs the linter",
  "summarise the attached article about volcanoes",
  "which sorting algorithm is stable and in place?",
  "create a migration that adds an index on users.email",
  "変数名を snake_case に直してください",
  "この関数の計算量を教えて",
  "CSS でボタンを中央に寄せたい",
  "正規表現でメールアドレスを判定する方法は？",
  "俳句をひとつ詠んでください",
  "再帰を使わずに木構造を走査するには？",
  "README に目次を追加して",
  "Python の仮想環境の作り方を説明して",
  "火山の仕組みを小学生にも分かるように書いて",
  "このエラーメッセージの意味は何ですか",
  "単体テストを三つ追加してほしい",
  "TypeScript の型推論が効かない原因を調べて",
  "ダークモードに対応したい",
  "素数を列挙するプログラムを書いて",
  "メモリリークの見つけ方を知りたい",
  "フランス語に訳してください",
  "星座の名前の由来を知りたい",
  "コミットメッセージを英語で書いて",
  "リンターの警告を全部直して",
  "ループを内包表記に書き換えて",
];

/** Thanks, greetings and politeness: nothing may open for these, with or without a history. */
export const SMALL_TALK = [
  "thanks, that looks great!",
  "thank you very much, please summarise",
  "hello, good morning to you",
  "ok perfect, sounds good to me",
  "yes please, that would be nice",
  "great job, thanks a lot for the help",
  "ありがとうございます、助かりました",
  "おはようございます、今日もよろしくお願いします",
  "了解しました、ありがとうございます",
  "お疲れ様でした。素晴らしいです",
  "はい、大丈夫です。お願いします",
  "なるほど、わかりました",
];

/** Prompts that only connect: history may carry them, and alone they open nothing. */
export const CONNECTING = [
  "continue with the next step",
  "go ahead and do the rest",
  "次のステップに進みましょう",
  "続きをお願いします",
];
