/** Arguments of commands with many options: letters that may stand together, words, and values that may stand beside them. */

interface KnownOptions {
  /** Letters that stand for themselves. */
  readonly flags: string
  /** Letters that a value follows. */
  readonly valued: string
  /** What a word is kept as: mostly the letter that means the same. */
  readonly words: Readonly<Record<string, string>>
  /** Words that a value follows, likewise. */
  readonly wordsWithValue: Readonly<Record<string, string>>
}

type Arguments =
  | {
      readonly kind: 'known'
      /** Values of each letter, in their order; those of flags are empty. */
      readonly options: ReadonlyMap<string, readonly string[]>
      readonly operands: readonly string[]
    }
  | { readonly kind: 'unknown'; readonly option: string }

export function readArguments(args: readonly string[], known: KnownOptions): Arguments {
  const options = new Map<string, string[]>()
  const operands: string[] = []
  const add = (letter: string, value: string): void => {
    options.set(letter, [...(options.get(letter) ?? []), value])
  }
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    if (arg === '--') {
      operands.push(...args.slice(at + 1))
      break
    }
    if (arg.startsWith('--')) {
      const [word = '', ...rest] = arg.slice(2).split('=')
      const flag = ownValue(known.words, word)
      const valued = ownValue(known.wordsWithValue, word)
      if (flag !== undefined) add(flag, '')
      else if (valued === undefined) return { kind: 'unknown', option: arg }
      else add(valued, rest.length > 0 ? rest.join('=') : (args[++at] ?? ''))
    } else if (arg.startsWith('-') && arg !== '-') {
      for (let index = 1; index < arg.length; index++) {
        const letter = arg[index]!
        if (known.flags.includes(letter)) {
          add(letter, '')
        } else if (known.valued.includes(letter)) {
          add(letter, arg.slice(index + 1) || (args[++at] ?? ''))
          break
        } else {
          return { kind: 'unknown', option: `-${letter}` }
        }
      }
    } else {
      operands.push(arg)
    }
  }
  return { kind: 'known', options, operands }
}

function ownValue(record: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** The value that counts of an option that is given once or more. */
export function lastOf(
  options: ReadonlyMap<string, readonly string[]>,
  letter: string,
): string | undefined {
  return options.get(letter)?.at(-1)
}

/** `name: value` by name in lower case. */
export function headersFrom(lines: readonly string[] = []): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

const UINT_MAX = 2 ** 32 - 1

/** A number of seconds as busybox reads one, or in its words why it is none. Without an option of this letter: the default. */
export function secondsOf(
  options: ReadonlyMap<string, readonly string[]>,
  letter: string,
  { absent, most = UINT_MAX }: { readonly absent: number; readonly most?: number },
): number | string {
  const text = lastOf(options, letter)
  if (text === undefined) return absent
  const seconds = /^\d+$/.test(text) ? Number(text) : Infinity
  if (seconds > UINT_MAX) return `invalid number '${text}'`
  return seconds > most ? `number ${text} is not in 0..${most} range` : seconds
}
