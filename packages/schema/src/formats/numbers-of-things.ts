/** Numbers that people give to things, with a digit that tests the others. */

const BETWEEN = /[\s-]+/g
/** Visa, MasterCard, Discover, American Express, Diners Club and JCB. */
const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

export function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(BETWEEN, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const values = [...digits].map((digit) => (digit === 'X' ? 10 : Number(digit)))
  return values.reduce((sum, value, index) => sum + (10 - index) * value, 0) % 11 === 0
}

export function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(BETWEEN, '')
  if (!/^\d{13}$/.test(digits)) return false
  const values = [...digits].map(Number)
  return values.reduce((sum, value, index) => sum + value * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

/** Whatever stands between the digits does not count. */
export function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D+/g, '')
  if (!CARD.test(digits)) return false
  const values = [...digits].toReversed().map(Number)
  const weighted = values.map((value, index) => (index % 2 === 1 ? value * 2 : value))
  return weighted.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0
}
