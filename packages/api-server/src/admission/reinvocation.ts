/**
 * When a mutating configuration has changed the object, all plug-ins run a second time: those that are built in have to
 * see what it added. Of the configurations run those that ask for it and had looked at the object before it changed, in
 * the first pass or by the built-in plug-ins of the second. Contract: docs/behaviour/api-server/subresources-and-admission.md.
 */
import type { AdmissionRequest } from '../contracts.ts'
import { cloneJson, semanticallyEqual } from '../registry/equality.ts'
import type { Draft } from '../registry/kind-rules.ts'

interface Progress {
  /** Asked to run again when the object changes. */
  readonly waiting: Set<string>
  /** To be run in the second pass. */
  readonly due: Set<string>
  changed: boolean
  /** The object as the first pass left it, where somebody waits for changes. */
  left?: Draft
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
  /** Whether there has to be a second pass; asked when all configurations of a plug-in have run. */
  needed(): boolean
}

export function reinvocations(request: AdmissionRequest): Pass {
  const object = request.object ?? {}
  let progress = progressOf.get(object)
  if (progress === undefined) {
    progress = { waiting: new Set(), due: new Set(), changed: false }
    progressOf.set(object, progress)
  }
  const known = progress
  const { waiting, due } = known
  const second = request.reinvocation === true
  if (second && known.left !== undefined && !semanticallyEqual(known.left, object)) runAgain(known)
  return {
    mayRun: (configuration) => !second || due.has(configuration),
    ran(configuration, { changed, again, sawItself = false }) {
      if (again && sawItself) waiting.add(configuration)
      // Those that ran before have seen another object; in the second pass that is too late for those whose turn is over.
      if (changed) {
        known.changed = true
        runAgain(known)
      }
      if (again) waiting.add(configuration)
    },
    needed() {
      if (second || !known.changed) return false
      if (waiting.size > 0) known.left = cloneJson(object)
      return true
    },
  }
}

/** Who runs again waits no more until it has. */
function runAgain({ waiting, due }: Progress): void {
  for (const configuration of waiting) due.add(configuration)
  waiting.clear()
}
