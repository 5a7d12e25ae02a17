/** What is told of one container: events, and why it waits. */
import type { Pod } from '@gyropilot/api'
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

export function waitFor(
  container: LocalContainer,
  { changed }: Pick<NewsServices, 'changed'>,
  reason: string,
  message: string,
): void {
  container.state = { state: 'waiting', reason, message }
  changed()
}
