/**
 * How long texts and how big objects are. To ask for it costs an expression one step whatever it is asked of, so what is big
 * is counted once per evaluation: else a million steps, all that a rule may take, each count some million characters.
 */

/** Less than this is counted faster than it is looked up. */
const BIG = 64

/** Where every character fits in a byte engines know at once that there is none. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/

interface MeasuredText {
  readonly text: string
  readonly length: number
  /** Of texts in which not every character is one unit, when one of them has been asked for. */
  characters?: readonly string[]
}

/**
 * The last text of each length in units: one look finds it. A map by the texts would compare each with all of its length, for
 * engines do not hash what is very long.
 */
const texts = new Map<number, MeasuredText>()

const keyCounts = new Map<object, number>()

/** Length of a text as CEL counts: code points. */
export function textLength(text: string): number {
  return text.length < BIG ? codePoints(text) : measured(text).length
}

/** One code point; undefined beyond the end. */
export function characterAt(text: string, index: number): string | undefined {
  if (text.length < BIG) return [...text][index]
  const known = measured(text)
  if (known.length === text.length) return text[index]
  known.characters ??= [...text]
  return known.characters[index]
}

export function keyCount(object: object): number {
  const known = keyCounts.get(object)
  if (known !== undefined) return known
  const count = Object.keys(object).length
  if (count >= BIG) keyCounts.set(object, count)
  return count
}

/** At the end of an evaluation: objects may change after it, and texts are not kept alive. */
export function forgetMeasures(): void {
  texts.clear()
  keyCounts.clear()
}

function measured(text: string): MeasuredText {
  const last = texts.get(text.length)
  if (last?.text === text) return last
  const measure = { text, length: PAIR.test(text) ? codePoints(text) : text.length }
  texts.set(text.length, measure)
  return measure
}

function codePoints(text: string): number {
  let length = text.length
  // Each surrogate pair is one.
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        length--
        index++
      }
    }
  }
  return length
}
