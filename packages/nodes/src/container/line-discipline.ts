/** What a terminal does with what is typed before a program that reads lines gets it: echo, corrections, the end of input. */

const CTRL_D = 4
const BACKSPACES = new Set([8, 127])

/** Whole lines, as they are typed into a terminal that shows them. Ctrl-D on an empty line is the end. */
export async function* typedLines(
  input: AsyncIterable<Uint8Array>,
  show: (text: string) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let line = ''
  for await (const chunk of input) {
    for (const char of Buffer.from(chunk).toString()) {
      const code = char.codePointAt(0)!
      if (code === CTRL_D) {
        if (line === '') return
        yield Buffer.from(line)
        line = ''
      } else if (BACKSPACES.has(code)) {
        if (line !== '') await show('\b \b')
        line = [...line].slice(0, -1).join('')
      } else if (char === '\r' || char === '\n') {
        await show('\r\n')
        yield Buffer.from(`${line}\n`)
        line = ''
      } else {
        line += char
        await show(char)
      }
    }
  }
  if (line !== '') yield Buffer.from(line)
}
