/**
 * Mutating configurations that may run once more: when something changed the object after they had looked at it, all
 * plug-ins run a second time, and those configurations with them. Contract: docs/behaviour/api-server/subresources-and-admission.md.
 */
import type { AdmissionRequest } from '../contracts.ts'
import type { Draft } from '../registry/kind-rules.ts'

interface Progress {
  /** Asked to run again when the object changes. */
  readonly waiting: Set<string>
  /** To be run in the second pass. */
  readonly due: Set<string>
}

/** By the object that is being admitted, which both passes share. */
const progressOf = new WeakMap<Draft, Progress>()

interface Outcome {
  readonly changed: boolean
  /** It wants to see the object again when it changes. */
  readonly again: boolean
  /** Its own change counts too: it runs a second time in any case. */
  readonly sawItself?: boolean
}

interface Pass {
  /** In the first pass everything runs, in the second only what is due. */
  mayRun(configuration: string): boolean
  ran(configuration: string, outcome: Outcome): void
  /** Whether a second pass has something to do. */
  needed(): boolean
}

export function reinvocations(request: AdmissionRequest): Pass {
  const object = request.object ?? {}
  let progress = progressOf.get(object)
  if (progress === undefined) {
    progress = { waiting: new Set(), due: new Set() }
    progressOf.set(object, progress)
  }
  const { waiting, due } = progress
  const second = request.reinvocation === true
  return {
    mayRun: (configuration) => !second || due.has(configuration),
    ran(configuration, { changed, again, sawItself = false }) {
      if (second) return
      if (again && sawItself) waiting.add(configuration)
      // Those that ran before have seen another object.
      if (changed) for (const earlier of waiting) due.add(earlier)
      if (again) waiting.add(configuration)
    },
    needed: () => !second && due.size > 0,
  }
}
