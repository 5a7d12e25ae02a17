/**
 * What others say in the name of a container's program: hooks and commands that write to /proc/1/fd/1. It stands in the log among
 * what the program says, for as long as the simulation runs.
 */
import type { ScriptedLine } from '../behavior/behavior.ts'
import { PrintedLines } from '../container/printed-lines.ts'
import { consoleOf } from './local-pod.ts'
import type { LocalContainer } from './local-pod.ts'

/** Of the run that goes on; while it is being started, of the one that begins. */
export async function tell(
  container: LocalContainer,
  nowMs: number,
  bytes: Uint8Array,
): Promise<void> {
  const { state } = container
  const startedAtMs = state.state === 'running' ? state.startedAtMs : undefined
  const console = startedAtMs === undefined ? undefined : consoleOf(container, startedAtMs)
  if (console !== undefined) return console.print(bytes)
  const isOfThis =
    container.told !== undefined && [undefined, startedAtMs].includes(container.told.startedAtMs)
  const printed = isOfThis ? container.told!.printed : new PrintedLines()
  container.told = { startedAtMs, printed }
  const atMs = startedAtMs === undefined ? 0 : nowMs - startedAtMs
  printed.add(atMs, Buffer.from(bytes).toString())
}

/** Lines of a run with what was said in its name, by the time of each. */
export function withTold(
  { told, state }: LocalContainer,
  startedAtMs: number,
  lines: readonly ScriptedLine[],
): readonly ScriptedLine[] {
  if (told === undefined) return lines
  const isOfLast = state.state === 'running' && state.startedAtMs === startedAtMs
  if (told.startedAtMs === undefined ? !isOfLast : told.startedAtMs !== startedAtMs) return lines
  return [...lines, ...told.printed.lines].sort((a, b) => a.atMs - b.atMs)
}
