/** Tokens in Secrets, made and judged by a whole cluster. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Secret, TokenReview } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 5_000

function tokenSecret(account = 'robot'): Secret {
  return {
    metadata: {
      name: 'tok',
      namespace: 'default',
      annotations: { 'kubernetes.io/service-account.name': account },
    },
    type: 'kubernetes.io/service-account-token',
  }
}

async function filledToken(world: World): Promise<string> {
  await world.of(resources.serviceaccounts).create({ metadata: { name: 'robot' } })
  await world.of(resources.secrets).create(tokenSecret())
  const secret = await world.until('the Secret is filled', WITHIN_MS, async () => {
    const found = await world.find(resources.secrets, 'tok')
    return found?.data?.['token'] ? found : undefined
  })
  assert.equal(Buffer.from(secret.data?.['namespace'] ?? '', 'base64').toString(), 'default')
  assert.ok(secret.data?.['ca.crt'])
  return Buffer.from(secret.data?.['token'] ?? '', 'base64').toString()
}

/** Who the server takes the bearer for; undefined: nobody. */
async function userOf(world: World, token: string): Promise<string | undefined> {
  const review = (await world
    .of<TokenReview>(resources.tokenreviews)
    .create({ spec: { token } })) as TokenReview
  return review.status?.authenticated ? review.status.user?.username : undefined
}

const ROBOT = 'system:serviceaccount:default:robot'

scenario(
  'Given a user-made token Secret, then its token authenticates as `system:serviceaccount:<ns>:<name>`; after the Secret or account is deleted it does not',
  async (world) => {
    const token = await filledToken(world)
    assert.equal(await userOf(world, token), ROBOT)
    await world.of(resources.secrets).delete('tok')
    assert.equal(await userOf(world, token), undefined)
  },
)

scenario('a token ends with its account, and its Secret goes', async (world) => {
  const token = await filledToken(world)
  await world.of(resources.serviceaccounts).delete('robot')
  assert.equal(await userOf(world, token), undefined)
  await world.until('the Secret is gone', WITHIN_MS, async () =>
    (await world.find(resources.secrets, 'tok')) === undefined ? true : undefined,
  )
})

scenario(
  'Given a new account in a cluster, then no Secret token exists after some seconds',
  async (world) => {
    await world.of(resources.serviceaccounts).create({ metadata: { name: 'robot' } })
    await world.advance(10_000)
    assert.deepEqual(await world.list(resources.secrets), [])
    assert.equal((await world.find(resources.serviceaccounts, 'robot'))?.secrets, undefined)
  },
)

scenario(
  'the reference to a Secret that is deleted leaves its account, others keep their order',
  async (world) => {
    await filledToken(world)
    const secrets = [{ name: 'first' }, { name: 'tok' }, { name: 'last' }]
    const value = { secrets }
    await world.of(resources.serviceaccounts).patch('robot', { type: 'merge', value })
    await world.advance(1_000)
    await world.of(resources.secrets).delete('tok')
    await world.until('the reference is gone', WITHIN_MS, async () =>
      (await world.find(resources.serviceaccounts, 'robot'))?.secrets?.length === 2
        ? true
        : undefined,
    )
    assert.deepEqual((await world.find(resources.serviceaccounts, 'robot'))?.secrets, [
      { name: 'first' },
      { name: 'last' },
    ])
  },
)

scenario('a token that is used carries the day of its last use', async (world) => {
  const token = await filledToken(world)
  const lastUsed = async () =>
    (await world.find(resources.secrets, 'tok'))?.metadata?.labels?.[
      'kubernetes.io/legacy-token-last-used'
    ]
  assert.equal(await lastUsed(), undefined)
  await userOf(world, token)
  const today = new Date(world.clock.nowMs()).toISOString().slice(0, 10)
  await world.until('the day is written', WITHIN_MS, async () =>
    (await lastUsed()) === today ? true : undefined,
  )
})
