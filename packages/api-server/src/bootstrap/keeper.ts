import { formatTime, uuid } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'

/** A kind whose objects the server keeps by itself, past the request pipeline: at a start some two hundred are made at once. */
export interface KeptKind {
  /** `roles.rbac.authorization.k8s.io` */
  readonly collection: string
  readonly apiVersion: string
  readonly kind: string
  /** Kinds that count their generations start at 1. */
  readonly hasGeneration?: boolean
  /** Whose fields they are; default `kube-apiserver`. */
  readonly manager?: string
  /** A part that the kind's rules add to every object, which is nobody's. */
  readonly unowned?: string
}

/** Records who owns the fields of an object that is created or, with `before`, changed. */
export type RecordOwner = (
  kind: KeptKind,
  object: Draft,
  before: Stored | undefined,
  manager: string,
) => void

const MANAGER = 'kube-apiserver'

export class Keeper {
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: RandomSource
  readonly #recordOwner: RecordOwner

  constructor(store: Store, clock: Clock, random: RandomSource, recordOwner: RecordOwner) {
    this.#store = store
    this.#clock = clock
    this.#random = random
    this.#recordOwner = recordOwner
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
    const { [kind.unowned ?? '']: _unowned, ...owned } = full as Draft
    // Writes into the metadata that both have.
    this.#recordOwner(kind, owned, undefined, kind.manager ?? MANAGER)
    return this.#commit(kind, full)
  }

  /** Keeps identity and creation of what is stored. */
  replace(kind: KeptKind, object: Stored): Stored {
    const draft = { ...object, metadata: { ...object['metadata'] } }
    this.#recordOwner(kind, draft, this.get(kind, object), kind.manager ?? MANAGER)
    return this.#commit(kind, draft)
  }

  /** Replaces what is stored as the owner of this entry, who has no other and owns what changes. */
  apply(kind: KeptKind, entry: Stored, object: Stored): Stored {
    const others = (object['metadata'].managedFields ?? []).filter(
      ({ manager }: Stored) => manager !== entry['manager'],
    )
    const metadata = { ...object['metadata'], managedFields: [entry, ...others] }
    return this.#commit(kind, { ...object, metadata })
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
