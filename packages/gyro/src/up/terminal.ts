/** What `gyro up` says: lines for people, or one JSON object per line for programs. */
import type { Line } from './narrator.ts'

export interface Terminal {
  /** The cluster is ready: what to copy. */
  banner(facts: BannerFacts): void
  line(line: Line): void
  stopping(): void
}

export interface BannerFacts {
  readonly readyMs: number
  readonly server: string
  readonly kubeconfig: string
  readonly parts: readonly string[]
  /** Empty: in memory. Undefined: the cluster is another's. */
  readonly dataDir: string | undefined
  readonly managerPids: readonly number[]
  /** The kubeconfig that the cluster is in, under this name, besides its own. */
  readonly merged?: { readonly file: string; readonly context: string }
  /** Of one that goes on after the command has returned. */
  readonly log?: string
  /** The process, when gyro down will not find it. */
  readonly unknownProcess?: number
  /** Lines that somebody should read once. */
  readonly notes: readonly string[]
}

interface TerminalOptions {
  write(text: string): void
  readonly color: boolean
  nowMs(): number
}

/** For people at a terminal that knows colours, and who did not say otherwise: no-color.org. */
export function isColored(
  { isTTY }: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv,
): boolean {
  return isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
}

const STYLE = { bold: '1', dim: '2', yellow: '33', green: '32' } as const

export function textTerminal({ write, color, nowMs }: TerminalOptions): Terminal {
  const style = (name: keyof typeof STYLE, text: string): string =>
    color ? `\x1b[${STYLE[name]}m${text}\x1b[0m` : text
  return {
    banner({
      readyMs,
      server,
      kubeconfig,
      parts,
      dataDir,
      managerPids,
      merged,
      log,
      notes,
      unknownProcess,
    }) {
      const seconds = (readyMs / 1000).toFixed(2)
      write(
        `${style('bold', 'Gyropilot')}  ready in ${style('green', `${seconds} s`)}  ${server}\n`,
      )
      write(`  running   ${parts.join(', ')}\n`)
      if (managerPids.length > 0) write(`  managers  processes ${managerPids.join(', ')}\n`)
      if (dataDir !== undefined) {
        write(`  data      ${dataDir === '' ? 'in memory, gone when this ends' : dataDir}\n`)
      }
      if (log !== undefined) write(`  log       ${log}\n`)
      if (merged !== undefined)
        write(`  kubectl   uses context ${merged.context} now, by ${merged.file}\n`)
      for (const note of notes) write(`  ${style('yellow', 'note')}      ${note}\n`)
      if (kubeconfig !== '' && merged === undefined) {
        write(`\n  ${style('bold', `export KUBECONFIG=${shellWord(kubeconfig)}`)}\n`)
      }
      write('\n')
      const command = unknownProcess === undefined ? 'gyro down' : `kill ${unknownProcess}`
      const end = log === undefined ? 'Ctrl-C' : command
      write(`${style('dim', `${end} stops the cluster.`)}\n`)
    },
    line({ level, text }) {
      const time = style('dim', new Date(nowMs()).toISOString().slice(11, 19))
      write(`${time}  ${level === 'warning' ? style('yellow', text) : text}\n`)
    },
    stopping() {
      write('\nstopping\n')
    },
  }
}

export function jsonTerminal({ write, nowMs }: TerminalOptions): Terminal {
  const text = (object: object): string =>
    `${JSON.stringify({ time: new Date(nowMs()).toISOString(), ...object })}\n`
  // Programs take the first line for the one that says where the cluster is.
  let held: string[] | undefined = []
  const letGo = (): void => {
    for (const line of held ?? []) write(line)
    held = undefined
  }
  return {
    banner(facts) {
      write(text({ type: 'ready', ...facts }))
      letGo()
    },
    line(line) {
      if (held === undefined) write(text({ type: 'event', ...line }))
      else held.push(text({ type: 'event', ...line }))
    },
    stopping() {
      letGo()
      write(text({ type: 'stopping' }))
    },
  }
}

/** Whose last word is that it stops: what a start that was interrupted goes on to find out is not told. */
export function untilStopping(terminal: Terminal): Terminal {
  let hasStopped = false
  return {
    banner: (facts) => void (hasStopped || terminal.banner(facts)),
    line: (line) => void (hasStopped || terminal.line(line)),
    stopping() {
      hasStopped = true
      terminal.stopping()
    },
  }
}

/** Quoted where a shell would read more than a word. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
