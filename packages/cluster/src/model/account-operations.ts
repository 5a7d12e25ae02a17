/** What a random user does with accounts and the Secrets that have their tokens. */
import type { KubernetesObject, Secret, ServiceAccount } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { APPS, isUsers, merge, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const TOKEN_TYPE = 'kubernetes.io/service-account-token'
const OF = 'kubernetes.io/service-account.name'
const MOST = 10

function tokens({ cluster }: Hand): readonly Secret[] {
  return cluster.objects
    .all(resources.secrets)
    .filter((found) => isUsers(found) && found.type === TOKEN_TYPE)
}

/** Those that he made. */
function robots({ cluster }: Hand): readonly ServiceAccount[] {
  return cluster.objects
    .all(resources.serviceaccounts)
    .filter((found) => isUsers(found) && found.metadata?.name?.startsWith('robot-') === true)
}

function robot(name: string, namespace: string): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
}

function discard({ cluster }: Hand, account: KubernetesObject): Promise<KubernetesObject> {
  const { namespace, name = '' } = account.metadata ?? {}
  return cluster.delete(resources.serviceaccounts, namespace, name)
}

export const accountOperations: readonly Operation[] = [
  {
    name: 'create an account',
    weight: 1.5,
    async act(hand) {
      await hand.cluster.create(robot(`robot-${hand.pick(APPS)}`, somePlace(hand)))
      return true
    },
  },
  {
    name: 'create a Secret for the token of an account',
    weight: 2,
    async act(hand) {
      if (tokens(hand).length >= MOST) return false
      // Now and then of one that is not there.
      const account = hand.pick([`robot-${hand.pick(APPS)}`, 'default'])!
      const annotations = { [OF]: account }
      await hand.cluster.create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: hand.fresh('token'), namespace: somePlace(hand), annotations },
        type: TOKEN_TYPE,
      } as Secret)
      return true
    },
  },
  {
    name: 'spoil the token of an account',
    weight: 1,
    async act(hand) {
      const target = hand.pick(tokens(hand))
      if (target === undefined) return false
      const data = hand.pick([{ 'ca.crt': btoa('spoiled') }, { token: null }, { namespace: null }])
      await merge(hand, resources.secrets, target, { data })
      return true
    },
  },
  {
    name: 'delete the token of an account',
    weight: 1,
    async act(hand) {
      const target = hand.pick(tokens(hand))
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      await hand.cluster.delete(resources.secrets, namespace, name)
      return true
    },
  },
  {
    name: 'delete an account, or replace it by its namesake',
    weight: 1.5,
    async act(hand) {
      const target = hand.pick(robots(hand))
      if (target === undefined) return false
      const { namespace = '', name = '' } = target.metadata ?? {}
      await discard(hand, target)
      if (hand.random.next() < 0.5) await hand.cluster.create(robot(name, namespace))
      return true
    },
  },
  {
    // What an event that was lost would have told is learnt with the next event of the Secret.
    name: 'touch the tokens of all accounts',
    weight: 0,
    tidies: true,
    async act(hand) {
      const annotations = { 'example.com/at': `${hand.cluster.virtualMs}` }
      for (const each of tokens(hand))
        await merge(hand, resources.secrets, each, { metadata: { annotations } })
      return true
    },
  },
]
