/**
 * The scale of what an autoscaler looks after: found, read and written.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Sync, steps 2 to 4 and 8.
 */
import type { HorizontalPodAutoscaler, ResourceType, Scale } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { getLiveSubresource, resourceOfKind, update, wait, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { readableScale, scaledType } from '../workload-support/readable-scale.ts'

const WRITE_ATTEMPTS = 5
const WRITE_PAUSE_MS = 10

export interface ScaleTarget {
  readonly type: ResourceType
  readonly scale: Scale
}

type FoundTarget =
  | { readonly ok: true; readonly target: ScaleTarget }
  /** `isSpec`: the autoscaler says something that cannot be. */
  | { readonly ok: false; readonly error: unknown; readonly isSpec: boolean }

export function* findTarget({ metadata, spec }: HorizontalPodAutoscaler): Reconcile<FoundTarget> {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef
  const parts = apiVersion.split('/')
  // 2.
  if (parts.length > 2) {
    const error = new Error(`unexpected GroupVersion string: ${apiVersion}`)
    return { ok: false, error, isSpec: true }
  }
  const group = parts.length === 2 ? parts[0]! : ''
  // 3. Of whatever version: a scale is the same in all of them.
  const found = yield* resourceOfKind(group, kind, '')
  if (!found.ok) {
    const error = new Error(
      `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`,
      {
        cause: found.error,
      },
    )
    return { ok: false, error, isSpec: false }
  }
  // 4.
  const type = scaledType(found.object)
  const scale = yield* getLiveSubresource<Scale>(type, metadata?.namespace, name, 'scale')
  if (!scale.ok) return { ok: false, error: scale.error, isSpec: false }
  try {
    return { ok: true, target: { type, scale: readableScale(scale.object) } }
  } catch (error) {
    return { ok: false, error, isSpec: false }
  }
}

/** 8. After a conflict again, on the scale as it is by then. */
export function* writeReplicas(
  { type, scale }: ScaleTarget,
  replicas: number,
): Reconcile<Outcome<Scale>> {
  let current = scale
  for (let attempt = 1; ; attempt += 1) {
    const wanted = { ...current, spec: { ...current.spec, replicas } }
    const written = (yield* write(update(type, wanted, 'scale'))) as Outcome<Scale>
    if (written.ok) return written
    const { namespace, name = '' } = scale.metadata ?? {}
    const live = yield* getLiveSubresource<Scale>(type, namespace, name, 'scale')
    if (live.ok) current = live.object
    if (!isConflict(written.error) || attempt === WRITE_ATTEMPTS) return written
    yield* wait(WRITE_PAUSE_MS)
  }
}
