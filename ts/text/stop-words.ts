// Words that carry no meaning of their own, left out of search and gate alike.

/** Japanese particles: a pair of characters that ends with one is a joint and no word. */
export const PARTICLES = new Set("はがをにのともでへやかねよな");

/** English words that alone never make a keyword hit. */
export const FUNCTION_WORDS = new Set(
  `a about after again all also am an and any are as at be because been before being both but by can could did do
  does doing don down during each few for from further get got had has have having he her here hers him his how i if
  in into is isn it its itself just let ll may me might more most must my myself no nor not now of off on once only
  or other our ours out over own please re same shall she should so some such than that the their theirs them then
  there these they this those through to too under until up us ve very was we were what when where which while who
  whom whose why will with would you your yours`.split(/\s+/),
);

/** The same in Japanese, as pairs of characters. */
export const FUNCTION_GRAMS = new Set(
  `です ます した して する され いる いた ある あっ った って いっ こと ころ これ それ あれ どれ この その あの どの ここ そこ
  どこ なに なん ない なか なる なっ なり なら から まで まし せん ため よう もの ので のに とき だっ だけ など ほど くら ぐら
  いつ だれ どう そう こう ああ どん そん こん でし でき てい てる ても くだ ださ さい しま しょ しょう ょう られ れる れた れて
  おり おい いて いう たい たち たり たら ただ また まだ もう もし しか かし けど けれ れど ます すか ませ`.split(
    /\s+/,
  ),
);
