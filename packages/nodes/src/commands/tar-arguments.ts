/** What a command line of `tar` asks for. Options stand in any order, bundled (`-xzf`, and `xzf` at first), apart or as words. Pure. */

export interface TarOrder {
  readonly act: 'create' | 'extract' | 'list'
  /** `-`: the input, or the output. */
  readonly archive: string
  readonly isCompressed: boolean
  readonly isVerbose: boolean
  /** Contents go to the output, and to no file. */
  readonly toOutput: boolean
  readonly keepsOld: boolean
  readonly keepsOwner: boolean
  /** Undefined: as who runs it has it; root does. */
  readonly keepsMode: boolean | undefined
  readonly exclude: readonly string[]
  readonly stripped: number
  /** Each -C from the one before it: an operand counts from those that stand before it. */
  readonly folders: readonly string[]
  readonly operands: readonly { readonly name: string; readonly folders: readonly string[] }[]
}

/** Letters, and the words that mean the same. `-` has no letter. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ['create', 'c'],
  ['extract', 'x'],
  ['get', 'x'],
  ['list', 't'],
  ['gzip', 'z'],
  ['gunzip', 'z'],
  ['ungzip', 'z'],
  ['verbose', 'v'],
  ['touch', 'm'],
  ['preserve-permissions', 'p'],
  ['same-permissions', 'p'],
  ['no-same-permissions', 'no-p'],
  ['same-owner', 'same-owner'],
  ['no-same-owner', 'o'],
  ['to-stdout', 'O'],
  ['keep-old-files', 'k'],
  ['overwrite', 'overwrite'],
  ['dereference', 'h'],
])
const VALUED: ReadonlyMap<string, string> = new Map([
  ['file', 'f'],
  ['directory', 'C'],
  ['exclude', 'exclude'],
  ['strip-components', 'strip'],
])
const FLAG_LETTERS = 'cxtzvmpoOkh'
const VALUED_LETTERS = 'fC'

const ACTS: ReadonlyMap<string, TarOrder['act']> = new Map([
  ['c', 'create'],
  ['x', 'extract'],
  ['t', 'list'],
])

type Read =
  | { readonly kind: 'order'; readonly order: TarOrder }
  | { readonly kind: 'unknown'; readonly option: string }
  | { readonly kind: 'wrong'; readonly problem: string }

export function readTarArguments(args: readonly string[]): Read {
  const given = new Given()
  const waiting = withDashes(args)
  for (;;) {
    const arg = waiting.shift()
    if (arg === undefined) return given.read()
    const next = (option: string): string => {
      const value = waiting.shift()
      if (value === undefined) given.problem ??= `option requires an argument: ${option}`
      return value ?? ''
    }
    if (arg === '--') {
      for (const name of waiting.splice(0)) given.operand(name)
    } else if (arg.startsWith('--')) {
      const [, word = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg)!
      const flag = FLAGS.get(word)
      const valued = VALUED.get(word)
      if (flag !== undefined && value === undefined) given.flag(flag)
      else if (valued !== undefined) given.value(valued, value ?? next(arg))
      else return { kind: 'unknown', option: arg }
    } else if (arg.startsWith('-') && arg !== '-') {
      for (let at = 1; at < arg.length; at++) {
        const letter = arg[at]!
        if (FLAG_LETTERS.includes(letter)) given.flag(letter)
        else if (VALUED_LETTERS.includes(letter)) {
          given.value(letter, arg.slice(at + 1) || next(`-${letter}`))
          break
        } else return { kind: 'unknown', option: `-${letter}` }
      }
    } else given.operand(arg)
  }
}

/** The oldest form: letters without a dash, whose values follow in their order. */
function withDashes(args: readonly string[]): string[] {
  const [first = '', ...others] = args
  if (first.startsWith('-') || first === '') return [...args]
  const letters = [...first].flatMap((letter) => {
    const value = VALUED_LETTERS.includes(letter) ? others.splice(0, 1) : []
    return [`-${letter}`, ...value]
  })
  return [...letters, ...others]
}

class Given {
  problem: string | undefined
  readonly #flags = new Set<string>()
  readonly #values = new Map<string, string[]>()
  readonly #folders: string[] = []
  readonly #operands: { name: string; folders: readonly string[] }[] = []

  flag(letter: string): void {
    this.#flags.add(letter)
  }

  value(letter: string, value: string): void {
    if (letter === 'C') this.#folders.push(value)
    else this.#values.set(letter, [...(this.#values.get(letter) ?? []), value])
  }

  operand(name: string): void {
    this.#operands.push({ name, folders: [...this.#folders] })
  }

  read(): Read {
    const has = (letter: string): boolean => this.#flags.has(letter)
    const acts = [...ACTS].filter(([letter]) => has(letter)).map(([, act]) => act)
    const stripped = this.#values.get('strip')?.at(-1) ?? '0'
    const problem =
      this.problem ??
      (acts.length === 1 ? undefined : 'one of -c, -x and -t must be given') ??
      (/^\d+$/.test(stripped) ? undefined : `invalid number '${stripped}'`)
    if (problem !== undefined) return { kind: 'wrong', problem }
    const order: TarOrder = {
      act: acts[0]!,
      archive: this.#values.get('f')?.at(-1) ?? '-',
      isCompressed: has('z'),
      isVerbose: has('v'),
      toOutput: has('O'),
      keepsOld: has('k'),
      keepsOwner: !has('o'),
      keepsMode: has('p') ? true : has('no-p') ? false : undefined,
      exclude: this.#values.get('exclude') ?? [],
      stripped: Number(stripped),
      folders: this.#folders,
      operands: this.#operands,
    }
    return { kind: 'order', order }
  }
}
