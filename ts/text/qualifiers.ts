// Words that begin a sentence which limits the one before it: showing one without the other would mislead.

/**
 * English qualifiers, as whole words. Adverbs that only sometimes qualify (`actually`, `in fact`) count with a
 * comma behind them.
 */
const ENGLISH =
  /^(?:(?:except|however|but|although|though|unless|nevertheless|nonetheless|on the other hand|that said|caveat|note that|provided that|with the exception of)(?![\p{L}\p{N}_'’-])|(?:instead|actually|in fact|yet|still),)/iu;

/**
 * Japanese qualifiers. Those that also begin other words are bounded: 一方的, 正しい, なおさら and 駄菓子 do not
 * qualify anything.
 */
const JAPANESE =
  /^(?:ただし(?![いくか])|但し|ただ、|しかし|だが(?!し)|ですが|でも、|なお(?![さすしせそりるれろ])|とはいえ|一方(?!的|通)|他方|その代わり|そのかわり|代わりに|もっとも、|ところが|それでも|けれども|例外として|逆に|反面)/u;

/** Whether a sentence limits what stands before it. */
export function startsWithQualifier(text: string): boolean {
  const start = text.trimStart().replace(/^["'“‘「『(（]+/u, "");
  return ENGLISH.test(start) || JAPANESE.test(start);
}
