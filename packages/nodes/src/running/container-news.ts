/** How one container waits, and what is told of it meanwhile. */
import type { Pod } from '@gyropilot/api'
import { anySignal, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { ContainerRole } from '../behavior/usual-run.ts'
import type { LocalContainer } from './local-pod.ts'

export interface NewsServices {
  readonly recorder: EventRecorder
  /** The pod as stored now. */
  pod(): Pod
  changed(): void
}

const FIELDS: Readonly<Record<ContainerRole, string>> = {
  main: 'containers',
  init: 'initContainers',
  sidecar: 'initContainers',
  ephemeral: 'ephemeralContainers',
}

export function recordOn(
  { role, spec }: LocalContainer,
  { recorder, pod }: Pick<NewsServices, 'recorder' | 'pod'>,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  const fieldPath = `spec.${FIELDS[role]}{${spec.name}}`
  recorder.record({ regarding: pod(), type, reason, message, fieldPath })
}

/** A run that has ended is its last one from then on. */
export function waitFor(
  container: LocalContainer,
  { changed }: Pick<NewsServices, 'changed'>,
  reason: string,
  message: string,
): void {
  if (container.state.state === 'terminated') container.last = container.state
  container.state = { state: 'waiting', reason, message }
  changed()
}

/** After a failure; answers false when it was cut short, as the container was defined anew. */
export async function backOffFor(
  container: LocalContainer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  delayMs: number,
): Promise<boolean> {
  const renewed = new AbortController()
  using scope = anySignal([signal, renewed.signal])
  container.wake = () => renewed.abort(new Error('defined anew'))
  try {
    await sleep(clock, delayMs, scope.signal)
    return true
  } catch (error) {
    if (!renewed.signal.aborted) throw error
    return false
  } finally {
    container.wake = undefined
  }
}
