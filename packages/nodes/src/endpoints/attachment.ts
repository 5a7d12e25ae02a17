/** Somebody attached to a program. Contract: docs/behaviour/simulation/kubelet.md, "Commands" (attach). */
import type { CommandStreams } from '../container/command-request.ts'
import { typedLines } from '../container/line-discipline.ts'
import type { ProgramConsole } from '../container/program-console.ts'

const CTRL_C = 3

export interface Attachment {
  readonly stdin: boolean
  readonly tty: boolean
  /** Its input ends with the first who was attached to it (`stdinOnce`). */
  readonly once: boolean
  /** Ctrl-C in a terminal. */
  interrupt(): void
}

/** Resolves when the program is over, or who is attached has left. */
export async function attach(
  console: ProgramConsole,
  attachment: Attachment,
  streams: CommandStreams,
): Promise<void> {
  const { stdin, tty, once } = attachment
  // A prompt waits for who comes. What was said in whole lines is not repeated: kubectl run has read the log when it attaches.
  const before = once && !console.wasHeard ? console.unfinishedLine : ''
  const say = (bytes: Uint8Array): Promise<void> => streams.stdout(tty ? withReturns(bytes) : bytes)
  const begun = before === '' ? Promise.resolve() : say(Buffer.from(before))
  const leave = console.listen(async (bytes) => {
    await begun
    await say(bytes)
  })
  const gone = new Promise<void>((resolve) => {
    if (streams.signal.aborted) resolve()
    streams.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  try {
    const session = stdin ? type(console, attachment, streams) : console.over()
    await Promise.race([session, console.over(), gone])
  } finally {
    leave()
    if (stdin && once && !tty) console.close()
  }
}

async function type(
  console: ProgramConsole,
  { tty, once, interrupt }: Attachment,
  { stdin }: CommandStreams,
): Promise<void> {
  const show = (text: string): Promise<void> => console.print(Buffer.from(text.replace('\r', '')))
  const input = tty ? typedLines(withoutInterrupts(stdin, interrupt), show) : stdin
  for await (const chunk of input) await console.type(chunk)
  if (once || tty) {
    console.close()
    await console.over()
  } else {
    // What was typed is answered before the session ends; the program goes on without it.
    await console.allRead()
  }
}

async function* withoutInterrupts(
  input: AsyncIterable<Uint8Array>,
  interrupt: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    if (chunk.includes(CTRL_C)) interrupt()
    else yield chunk
  }
}

/** A terminal needs them. */
function withReturns(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  return Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'), 'latin1')
}
