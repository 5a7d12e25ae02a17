/** What is wrong with a script, before any of it runs or in a sum. */

export class SyntaxProblem extends Error {}

/** The script ends within something: more of it may be the rest. */
export class Unfinished extends SyntaxProblem {
  /** Whether it can come to its end in that line. */
  readonly mayEnd: (line: string) => boolean

  constructor(message: string, mayEnd: (line: string) => boolean = () => true) {
    super(message)
    this.mayEnd = mayEnd
  }

  /** It ends at that text. */
  static until(text: string, message: string): Unfinished {
    return new Unfinished(message, (line) => line.includes(text))
  }

  /** It ends at that word, such as `fi`. */
  static untilWord(word: string, message: string): Unfinished {
    return new Unfinished(message, (line) => line.split(/[\s;&|()<>]+/).includes(word))
  }
}
