/**
 * The part of sh that short scripts are written in: words, quotes, variables, pipes, redirections, here documents, `;`, `&&`, `||`, `!`, `if`,
 * `for`, `while`, `until`, `case`, groups, functions.
 */
import type {
  Command,
  Conditional,
  Definition,
  Group,
  Loop,
  Redirection,
  Repetition,
  Selection,
  SimpleCommand,
  Step,
  Word,
} from './script.ts'
import { SyntaxProblem, Unfinished } from './syntax-problem.ts'
import { tokensOf } from './words.ts'
import type { Token } from './words.ts'

/** Words that end what is around them, or that are not known, where a command could begin. */
const ENDS = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}'])
const FUNCTION_NAME = /^[A-Za-z_][\w-]*$/

/** `isAll`: nothing follows; otherwise a script that is not at its end throws Unfinished. Throws SyntaxProblem. */
export function parseScript(script: string, isDash = false, isAll = true): readonly Step[] {
  const parse = (inner: string): readonly Step[] => parseScript(inner, isDash)
  const parser = new Parser(tokensOf(script, { isAll, isDash, parse }))
  const steps = parser.steps()
  parser.expectEnd()
  return steps
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** Up to a word or a parenthesis that ends what is around. */
  steps(): readonly Step[] {
    const steps: Step[] = []
    let isJoinable = false
    for (;;) {
      const operator = this.#operator()
      if (operator === ')' || operator === ';;' || this.#isEnd()) return steps
      if (operator === ';' || operator === '\n') {
        isJoinable = false
        this.#at++
      } else if (operator === '|') {
        throw this.#unexpected()
      } else if (operator === '&') {
        if (!isJoinable) throw this.#unexpected()
        const joined = steps.splice(steps.findLastIndex(({ when }) => when === ';'))
        steps.push(inBackground(joined))
        isJoinable = false
        this.#at++
      } else if (operator === '&&' || operator === '||') {
        if (!isJoinable) throw this.#unexpected()
        this.#at++
        this.#skipBreaks()
        steps.push({ when: operator, ...this.#pipeline() })
      } else {
        steps.push({ when: ';', ...this.#pipeline() })
        isJoinable = true
      }
    }
  }

  expectEnd(): void {
    if (this.#at < this.#tokens.length) throw this.#unexpected()
  }

  #pipeline(): Pick<Step, 'isInverted' | 'pipeline'> {
    const isInverted = this.#keyword() === '!'
    if (isInverted) this.#at++
    const pipeline = [this.#command()]
    while (this.#operator() === '|') {
      this.#at++
      this.#skipBreaks()
      pipeline.push(this.#command())
    }
    return { isInverted, pipeline }
  }

  #command(): Command {
    if (this.#isEnd()) throw this.#unexpected()
    const command = this.#compound()
    if (command === undefined) return this.#simpleCommand()
    const redirections: Redirection[] = []
    for (let text = this.#redirector(); text !== undefined; text = this.#redirector())
      redirections.push(...this.#redirection(text))
    return redirections.length === 0 ? command : { redirected: command, redirections }
  }

  /** Undefined: a command of words begins here. */
  #compound(): Exclude<Command, SimpleCommand> | undefined {
    if (this.#operator() === '(') return this.#group(')', true)
    const keyword = this.#keyword()
    if (keyword === '{') return this.#group('}', false)
    if (keyword === 'if') return this.#conditional()
    if (keyword === 'for') return this.#loop()
    if (keyword === 'case') return this.#selection()
    if (keyword === 'while') return this.#repetition('fails')
    if (keyword === 'until') return this.#repetition('holds')
    return this.#definition(keyword)
  }

  /** `name() BODY`, or bash's `function name BODY`. */
  #definition(keyword: string | undefined): Definition | undefined {
    const isNamed = keyword === 'function'
    const hasParentheses = this.#operator(1) === '(' && this.#operator(2) === ')'
    if (keyword === undefined || (!isNamed && !hasParentheses)) return undefined
    if (isNamed) this.#at++
    const name = this.#keyword() ?? ''
    if (!FUNCTION_NAME.test(name)) throw new SyntaxProblem('syntax error: bad function name')
    this.#at++
    if (this.#operator() === '(') {
      this.#at++
      this.#expect(')')
    }
    this.#skipBreaks()
    return { defines: name, body: this.#command() }
  }

  #redirector(): string | undefined {
    const operator = this.#operator()
    return operator !== undefined && isRedirection(operator) ? operator : undefined
  }

  #group(end: ')' | '}', isSubshell: boolean): Group {
    this.#at++
    const group = this.steps()
    this.#expect(end)
    return { group, isSubshell }
  }

  #conditional(): Conditional {
    const branches: { condition: readonly Step[]; steps: readonly Step[] }[] = []
    do {
      this.#at++
      const condition = this.steps()
      this.#expect('then')
      branches.push({ condition, steps: this.steps() })
    } while (this.#keyword() === 'elif')
    const hasElse = this.#keyword() === 'else'
    if (hasElse) this.#at++
    const otherwise = hasElse ? this.steps() : []
    this.#expect('fi')
    return { branches, otherwise }
  }

  #loop(): Loop {
    this.#at++
    const variable = this.#keyword() ?? ''
    if (!/^[A-Za-z_]\w*$/.test(variable))
      throw new SyntaxProblem('syntax error: bad for loop variable')
    this.#at++
    this.#expect('in')
    const values: Word[] = []
    for (let token = this.#token(); token?.kind === 'word'; token = this.#token()) {
      values.push(token.word)
      this.#at++
    }
    while (this.#operator() === ';' || this.#operator() === '\n') this.#at++
    this.#expect('do')
    const body = this.steps()
    this.#expect('done')
    return { variable, values, body }
  }

  #selection(): Selection {
    this.#at++
    const of = this.#word()
    this.#expect('in')
    const choices: { patterns: readonly Word[]; steps: readonly Step[] }[] = []
    for (this.#skipBreaks(); this.#keyword() !== 'esac'; this.#skipBreaks()) {
      if (this.#token() === undefined)
        throw Unfinished.untilWord('esac', 'syntax error: missing "esac"')
      if (this.#operator() === '(') this.#at++
      const patterns = [this.#word()]
      for (; this.#operator() === '|'; patterns.push(this.#word())) this.#at++
      this.#expect(')')
      choices.push({ patterns, steps: this.steps() })
      if (this.#keyword() !== 'esac') this.#expect(';;')
    }
    this.#expect('esac')
    return { of, choices }
  }

  #word(): Word {
    const token = this.#token()
    if (token?.kind !== 'word') throw this.#unexpected()
    this.#at++
    return token.word
  }

  #skipBreaks(): void {
    while (this.#operator() === '\n') this.#at++
  }

  #repetition(endsWhen: Repetition['endsWhen']): Repetition {
    this.#at++
    const condition = this.steps()
    this.#expect('do')
    const body = this.steps()
    this.#expect('done')
    return { condition, endsWhen, body }
  }

  #simpleCommand(): SimpleCommand {
    const assignments: { name: string; value: Word }[] = []
    const words: Word[] = []
    const redirections: Redirection[] = []
    for (let token = this.#token(); token !== undefined; token = this.#token()) {
      if (token.kind === 'operator') {
        if (!isRedirection(token.text)) break
        redirections.push(...this.#redirection(token.text))
        continue
      }
      this.#at++
      const assignment = words.length === 0 ? assignmentOf(token.word) : undefined
      if (assignment !== undefined) assignments.push(assignment)
      else words.push(token.word)
    }
    if (assignments.length + words.length + redirections.length === 0) throw this.#unexpected()
    return { assignments, words, redirections }
  }

  #redirection(text: string): readonly Redirection[] {
    const document = this.#document()
    this.#at++
    if (document !== undefined) return [{ from: 0, mode: '<<', target: document.text }]
    if (/&\d/.test(text)) return [{ from: text === '2>&1' ? 2 : 1, mode: '&', target: [] }]
    const target = this.#token()
    this.#at++
    if (target?.kind !== 'word') throw new SyntaxProblem('syntax error: unexpected newline')
    const one: Redirection = {
      from: text === '<' ? 0 : text.startsWith('2') ? 2 : 1,
      mode: text.replace(/^[\d&]/, '') as Redirection['mode'],
      target: target.word,
    }
    return text.startsWith('&') ? [one, { from: 2, mode: '&', target: [] }] : [one]
  }

  #expect(text: string): void {
    if ((this.#operator() ?? this.#keyword()) !== text) {
      const message = `syntax error: missing "${text}"`
      if (this.#token() !== undefined) throw new SyntaxProblem(message)
      if (text === ')') throw Unfinished.until(text, message)
      throw Unfinished.untilWord(text === ';;' ? 'esac' : text, message)
    }
    this.#at++
  }

  #unexpected(): SyntaxProblem {
    const text = this.#operator() ?? this.#keyword()
    if (this.#token() === undefined) return new Unfinished('syntax error: unexpected "end of file"')
    return new SyntaxProblem(`syntax error: unexpected "${text ?? 'word'}"`)
  }

  #document(): { readonly text: Word } | undefined {
    const token = this.#token()
    return token?.kind === 'operator' ? token.document : undefined
  }

  #token(): Token | undefined {
    return this.#tokens[this.#at]
  }

  #operator(ahead = 0): string | undefined {
    const token = this.#tokens[this.#at + ahead]
    return token?.kind === 'operator' ? token.text : undefined
  }

  /** A word that is plain text. */
  #keyword(): string | undefined {
    const token = this.#token()
    const [part, ...more] = token?.kind === 'word' ? token.word : []
    const isPlain = part !== undefined && 'text' in part && part.quoted !== true
    return isPlain && more.length === 0 ? part.text : undefined
  }

  #isEnd(): boolean {
    return this.#token() === undefined || ENDS.has(this.#keyword() ?? '')
  }
}

function isRedirection(text: string): boolean {
  return text.includes('>') || text.startsWith('<')
}

function assignmentOf(word: Word): { name: string; value: Word } | undefined {
  const first = word[0]
  if (first === undefined || !('text' in first) || first.quoted === true) return undefined
  const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(first.text)
  if (match === null) return undefined
  return { name: match[1]!, value: [{ text: match[2]! }, ...word.slice(1)] }
}

/** What `&&` and `||` join goes there together: none of it holds up the script. */
function inBackground(joined: readonly Step[]): Step {
  const [only] = joined
  if (joined.length === 1) return { ...only!, inBackground: true }
  const group = { group: joined, isSubshell: false }
  return { when: ';', isInverted: false, pipeline: [group], inBackground: true }
}
