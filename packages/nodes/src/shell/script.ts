/** What a script of sh says, once it is read. */

/** Text, or what stands in its place when the script runs; quoted values are not split into words. */
export type Part =
  | { readonly text: string; readonly quoted?: boolean }
  /** `?` is the last exit code, digits are parameters. */
  | { readonly variable: string; readonly quoted: boolean; readonly asked?: Asked }
  /** `$( )`: what the script prints. */
  | { readonly script: readonly Step[]; readonly quoted: boolean }
  /** `$(( ))`: a sum, with variables in it. */
  | { readonly sum: string; readonly quoted: boolean }

/** `${NAME:-text}` and its like: what counts without a value (`-`), with one (`+`), or is said at the end of a script without (`?`). */
export interface Asked {
  readonly operator: '-' | '+' | '?'
  readonly text: string
  /** `:`: an empty value is none. */
  readonly emptyIsNone: boolean
}

export type Word = readonly Part[]

export interface Redirection {
  readonly from: 0 | 1 | 2
  /** `&`: where the other output goes; `<<`: the target is what is read. */
  readonly mode: '<' | '<<' | '>' | '>>' | '&'
  readonly target: Word
}

export interface SimpleCommand {
  readonly assignments: readonly { readonly name: string; readonly value: Word }[]
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
}

export interface Conditional {
  /** `if` and each `elif`. */
  readonly branches: readonly {
    readonly condition: readonly Step[]
    readonly steps: readonly Step[]
  }[]
  readonly otherwise: readonly Step[]
}

export interface Loop {
  readonly variable: string
  readonly values: readonly Word[]
  readonly body: readonly Step[]
}

/** `( )` with variables and a folder of its own, `{ }` with those around it. */
export interface Group {
  readonly group: readonly Step[]
  readonly isSubshell: boolean
}

/** `while` and `until`: goes round until the condition fails, or holds. */
export interface Repetition {
  readonly condition: readonly Step[]
  readonly endsWhen: 'fails' | 'holds'
  readonly body: readonly Step[]
}

/** `case`: what is done by the first pattern that fits. */
export interface Selection {
  readonly of: Word
  readonly choices: readonly {
    readonly patterns: readonly Word[]
    readonly steps: readonly Step[]
  }[]
}

/** `name() { }`: what a command of that name does from then on. */
export interface Definition {
  readonly defines: string
  readonly body: Command
}

/** What a loop or a group reads and writes as a whole. */
interface Redirected {
  readonly redirected: Exclude<Command, SimpleCommand>
  readonly redirections: readonly Redirection[]
}

export type Command =
  | Redirected
  | SimpleCommand
  | Conditional
  | Loop
  | Repetition
  | Selection
  | Group
  | Definition

/** Commands joined by pipes, and when they run: always, or by the exit code before them. */
export interface Step {
  readonly when: ';' | '&&' | '||'
  /** `!`: failing is success. */
  readonly isInverted: boolean
  readonly pipeline: readonly Command[]
  /** `&`: nobody waits for it. */
  readonly inBackground?: boolean
}
