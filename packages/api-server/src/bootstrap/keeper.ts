import { formatTime, uuid } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'

/** A kind whose objects the server keeps by itself, past the request pipeline: at a start some two hundred are made at once. */
export interface KeptKind {
  /** `roles.rbac.authorization.k8s.io` */
  readonly collection: string
  readonly apiVersion: string
  readonly kind: string
  /** Kinds that count their generations start at 1. */
  readonly hasGeneration?: boolean
}

export class Keeper {
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: RandomSource

  constructor(store: Store, clock: Clock, random: RandomSource) {
    this.#store = store
    this.#clock = clock
    this.#random = random
  }

  get(kind: KeptKind, object: Stored): Stored | undefined {
    return this.#store.get({ collection: kind.collection, key: keyOf(object) })?.object
  }

  create(kind: KeptKind, object: Stored): Stored {
    const { apiVersion, hasGeneration } = kind
    const { metadata } = object
    const full = {
      apiVersion,
      kind: kind.kind,
      ...object,
      metadata: {
        ...metadata,
        uid: uuid(this.#random),
        ...(hasGeneration === true ? { generation: 1 } : {}),
        creationTimestamp: formatTime(this.#clock.nowMs()),
      },
    }
    return this.#commit(kind, full)
  }

  /** Keeps identity and creation of what is stored. */
  replace(kind: KeptKind, object: Stored): Stored {
    return this.#commit(kind, object)
  }

  delete(kind: KeptKind, object: Stored): void {
    this.#store.commit({ collection: kind.collection, key: keyOf(object) }, () => undefined)
  }

  ensure(kind: KeptKind, object: Stored): Stored {
    return this.get(kind, object) ?? this.create(kind, object)
  }

  #commit(kind: KeptKind, object: Stored): Stored {
    const event = this.#store.commit(
      { collection: kind.collection, key: keyOf(object) },
      (revision) => ({
        ...object,
        metadata: { ...object['metadata'], resourceVersion: String(revision) },
      }),
    )
    return event.object
  }
}

function keyOf({ metadata }: Stored): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name
}
