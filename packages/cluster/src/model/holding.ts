/** Objects that a random user holds by a finalizer of his own, and lets go. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { merge } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

interface Holding {
  readonly finalizer: string
  readonly held: (hand: Hand) => readonly KubernetesObject[]
  readonly typeOf: (object: KubernetesObject) => ResourceType
}

export function isHeldBy(finalizer: string): (object: KubernetesObject) => boolean {
  return ({ metadata }) => metadata?.finalizers?.includes(finalizer) === true
}

/** One of them now and then, and all when his work is over. */
export function lettingGo(
  holding: Holding,
  one: Pick<Operation, 'name' | 'weight'>,
  all: Pick<Operation, 'name'>,
): readonly Operation[] {
  const { held } = holding
  return [
    {
      ...one,
      async act(hand) {
        const target = hand.pick(held(hand))
        if (target === undefined) return false
        await letGo(hand, target, holding)
        return true
      },
    },
    {
      ...all,
      weight: 0,
      tidies: true,
      async act(hand) {
        const objects = held(hand)
        for (const each of objects) await letGo(hand, each, holding)
        return objects.length > 0
      },
    },
  ]
}

async function letGo(
  hand: Hand,
  object: KubernetesObject,
  { finalizer, typeOf }: Holding,
): Promise<void> {
  const finalizers = object.metadata?.finalizers?.filter((text) => text !== finalizer)
  await merge(hand, typeOf(object), object, { metadata: { finalizers } })
}
