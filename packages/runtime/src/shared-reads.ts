/** One live read for many who ask at the same time. */
import type { KubernetesObject } from '@gyropilot/api'
import type { Read } from './effects.ts'

type SharedRead = Exclude<Read, { verb: 'discover' }>

/** Performs a read for all who wait for it: `mentioning` is what they asked for, together. */
type Perform = (mentioning: readonly string[]) => Promise<KubernetesObject>

interface Round {
  readonly mentioning: string[]
  readonly answer: Promise<KubernetesObject>
}

/** What is read at one address. */
interface Place {
  /** Resolves when the read that is under way has ended, well or badly. */
  underWay: Promise<unknown>
  /** Not yet begun: who asks now is answered by it. */
  next: Round | undefined
}

/**
 * Equal reads follow one another instead of running beside each other, and one answers all who asked before it began. So nobody
 * is answered with a state older than the question, as a live read promises, and what is asked often is read as often as the
 * server answers.
 */
export class SharedReads {
  readonly #places = new Map<string, Place>()

  /** The answer belongs to all who asked. */
  read(read: SharedRead, perform: Perform): Promise<KubernetesObject> {
    const address = addressOf(read)
    let place = this.#places.get(address)
    if (place === undefined) {
      this.#places.set(address, (place = { underWay: Promise.resolve(), next: undefined }))
    }
    place.next ??= this.#roundAfter(place, address, perform)
    if (read.verb === 'list' && read.mentioning !== undefined) {
      place.next.mentioning.push(read.mentioning)
    }
    return place.next.answer
  }

  #roundAfter(place: Place, address: string, perform: Perform): Round {
    const mentioning: string[] = []
    const begun = place.underWay.then(() => {
      place.next = undefined
      return perform(mentioning)
    })
    const forget = (): void => {
      if (place.next === undefined) this.#places.delete(address)
    }
    place.underWay = begun.then(forget, forget)
    return { mentioning, answer: begun }
  }
}

/** All that the answer depends on. */
function addressOf(read: SharedRead): string {
  const { group, version, resource } = read.type
  const asked =
    read.verb === 'get'
      ? [read.name, read.subresource]
      : [
          read.labelSelector,
          read.fieldSelector,
          read.limit,
          read.continue,
          read.mentioning === undefined,
        ]
  return JSON.stringify([
    read.verb,
    group,
    version,
    resource,
    read.namespace,
    read.metadataOnly,
    asked,
  ])
}
