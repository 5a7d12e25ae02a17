/**
 * The scale of what an autoscaler looks after: found, read and written.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Sync, steps 2 to 4 and 8.
 */
import { LabelQuery, parseLabelQuery } from '@gyropilot/api'
import type { HorizontalPodAutoscaler, LabelRequirement, ResourceType, Scale } from '@gyropilot/api'
import { asType, isConflict } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { getLiveSubresource, resourceOfKind, update, wait, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'

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
  const type = asType(found.object)
  const scale = yield* getLiveSubresource<Scale>(type, metadata?.namespace, name, 'scale')
  if (!scale.ok) return { ok: false, error: scale.error, isSpec: false }
  try {
    return { ok: true, target: { type, scale: withPlainSelector(scale.object) } }
  } catch (error) {
    const text = `received an object from a /scale endpoint which was not convertible to autoscaling Scale: failed to parse target selector: ${errorText(error)}`
    return { ok: false, error: new Error(text, { cause: error }), isSpec: false }
  }
}

/**
 * A selector in text form has to be one that a LabelSelector can say, and is asked with in the words of that: custom resources
 * write what they like. Of two `=` for one key the last one counts, as in a map of labels.
 */
function withPlainSelector(scale: Scale): Scale {
  const text = scale.status?.selector ?? ''
  if (text === '') return scale
  const labels = new Map<string, LabelRequirement>()
  const expressions: LabelRequirement[] = []
  for (const requirement of requirementsOf(text)) {
    const { key, operator } = requirement
    if (operator === '=' || operator === '==') labels.set(key, { ...requirement, operator: '=' })
    else if (operator === 'gt' || operator === 'lt')
      throw new Error(`${JSON.stringify(operator)} isn't supported in label selectors`)
    else if (operator === '!=') throw new Error('"!=" is not a valid label selector operator')
    else expressions.push(requirement)
  }
  const selector = LabelQuery.of([...labels.values(), ...expressions]).toString()
  return { ...scale, status: { ...scale.status!, selector } }
}

function requirementsOf(selector: string): readonly LabelRequirement[] {
  try {
    return parseLabelQuery(selector).requirements
  } catch (error) {
    throw new Error(`couldn't parse the selector string "${selector}": ${errorText(error)}`, {
      cause: error,
    })
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
