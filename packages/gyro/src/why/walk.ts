/** From the object asked about, down to what holds: each link read and explained in turn. */
import { apiVersionOf } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { ClusterReader } from './cluster-reader.ts'
import { explain } from './explain.ts'
import type { Explanation, Found, Reason } from './facts.ts'
import { gather } from './gather.ts'
import { shortName } from './words.ts'

/** An object of the chain. JSON of `--output json`. */
export interface Answer extends Omit<Explanation, 'reasons' | 'state'> {
  /** `pod/web-0`. */
  readonly name: string
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
    readonly uid: string
  }
  /** `gone`: between two reads. `told`: elsewhere in the answer. `not looked at`: the answer would be too long. */
  readonly state: Explanation['state'] | 'gone' | 'told' | 'not looked at'
  readonly reasons: readonly AnsweredReason[]
}

export interface AnsweredReason extends Omit<Reason, 'waitsFor'> {
  readonly waitsFor: readonly Answer[]
  /** Objects beyond those of `waitsFor`. */
  readonly andMore: number
}

/** A few of many objects say as much as all, and every one costs a dozen requests. */
const MOST_FOLLOWED = 3
const MOST_OBJECTS = 24
const MOST_LEVELS = 8

export class Walk {
  readonly #cluster: ClusterReader
  readonly #nowMs: () => number
  readonly #seen = new Set<string>()

  constructor(cluster: ClusterReader, nowMs: () => number) {
    this.#cluster = cluster
    this.#nowMs = nowMs
  }

  /** `found` with all its fields. */
  async from(found: Found, level = 0): Promise<Answer> {
    const uid = found.object.metadata?.uid ?? ''
    if (this.#seen.has(uid)) return bare(found, 'told')
    if (this.#seen.size >= MOST_OBJECTS || level >= MOST_LEVELS) return bare(found, 'not looked at')
    this.#seen.add(uid)
    const explanation = explain(await gather(this.#cluster, found, this.#nowMs()))
    const reasons: AnsweredReason[] = []
    for (const { waitsFor, ...reason } of explanation.reasons) {
      const followed: Answer[] = []
      for (const next of waitsFor.slice(0, MOST_FOLLOWED))
        followed.push(await this.#follow(next, level + 1))
      const andMore = Math.max(0, waitsFor.length - MOST_FOLLOWED)
      reasons.push({ ...reason, waitsFor: followed, andMore })
    }
    return { ...bare(found, explanation.state), ...explanation, reasons }
  }

  /** Lists may hold metadata only, and are some requests old. */
  async #follow(listed: Found, level: number): Promise<Answer> {
    const { name = '', namespace, uid } = listed.object.metadata ?? {}
    try {
      const object = await this.#cluster.get(listed.type, name, namespace)
      if (object.metadata?.uid !== uid) return bare(listed, 'gone')
      return await this.from({ type: listed.type, object }, level)
    } catch (error) {
      return bare(listed, isNotFound(error) ? 'gone' : 'not looked at')
    }
  }
}

function bare(found: Found, state: Answer['state']): Answer {
  const { name = '', namespace, uid = '' } = found.object.metadata ?? {}
  const { kind } = found.type
  return {
    name: shortName(found),
    object: {
      apiVersion: apiVersionOf(found.type),
      kind,
      ...(namespace ? { namespace } : {}),
      name,
      uid,
    },
    state,
    reasons: [],
    notes: [],
  }
}

interface Holder {
  readonly object: Answer['object']
  /** `NotDeleted`: an object that others wait for and nobody deletes. */
  readonly code: Reason['code'] | 'NotDeleted'
  readonly text: string
}

/** Only says whose turn it is: anything else says more, and if there is nothing, who takes turns has to act. */
const isTurn = (code: Holder['code']): boolean =>
  code === 'NamespaceTerminating' || code === 'OwnerDeleting'

/** The ends of the chain: reasons that wait for no other object, and objects that nobody deletes. */
export function holders(answer: Answer): readonly Holder[] {
  const { object, name } = answer
  const where = object.namespace ? `${name} in ${object.namespace}` : name
  if (answer.state === 'gone' || answer.state === 'told' || answer.state === 'not looked at')
    return []
  if (answer.reasons.length === 0)
    return [{ object, code: 'NotDeleted', text: `${where}: nobody is deleting it` }]
  const own = answer.reasons.filter(({ code }) => !isTurn(code))
  return (own.length > 0 ? own : answer.reasons).flatMap((reason): readonly Holder[] => {
    const below = reason.waitsFor.flatMap(holders).filter(({ code }) => !isTurn(code))
    if (below.length > 0) return below
    return [{ object, code: reason.code, text: `${where}: ${reason.holds}` }]
  })
}
