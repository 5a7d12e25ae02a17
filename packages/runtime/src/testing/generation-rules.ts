/** What an API server counts as a change of what is wanted. */
import type { KubernetesObject } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'

/** The generation of what a write past the status makes: one more where anything but metadata and status changed. */
export function generationOf(before: KubernetesObject, after: KubernetesObject): number {
  const { generation } = before.metadata ?? {}
  return generation === undefined
    ? 1
    : generation + (deepEqual(wantedOf(before), wantedOf(after)) ? 0 : 1)
}

function wantedOf(object: KubernetesObject): object {
  const {
    apiVersion: _,
    kind: __,
    metadata: ___,
    status: ____,
    ...wanted
  } = object as KubernetesObject & { status?: unknown }
  return wanted
}
