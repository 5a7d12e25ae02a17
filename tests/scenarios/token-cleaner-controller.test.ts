/** Bootstrap tokens end when they say so. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const OPTIONS = { controllers: ['token-cleaner-controller'] }

function token(world: World, livesMs: number): Secret {
  const expiration = new Date(world.clock.nowMs() + livesMs).toISOString()
  return {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { expiration },
  }
}

const find = (world: World): Promise<Secret | undefined> =>
  world.find(resources.secrets, 'bootstrap-token-abcdef', 'kube-system')

scenario(
  'Given an expired token in a cluster, then its Secret disappears',
  async (world) => {
    await world.of(resources.secrets, 'kube-system').create(token(world, -1_000))
    await world.until('the token is gone', 5_000, async () =>
      (await find(world)) === undefined ? true : undefined,
    )
  },
  OPTIONS,
)

scenario(
  'Given a token that is not expired, then its Secret stays',
  async (world) => {
    await world.of(resources.secrets, 'kube-system').create(token(world, 60_000))
    await world.advance(59_000)
    assert.ok(await find(world))
    await world.advance(2_000)
    assert.equal(await find(world), undefined)
  },
  OPTIONS,
)

scenario(
  'an end that is put off is kept to, and so is one that is brought forward',
  async (world) => {
    const secrets = world.of(resources.secrets, 'kube-system')
    await secrets.create(token(world, 10_000))
    const { stringData } = token(world, 100_000)
    await secrets.patch('bootstrap-token-abcdef', { type: 'merge', value: { stringData } })
    await world.advance(20_000)
    assert.ok(await find(world))
    const sooner = token(world, 5_000).stringData
    await secrets.patch('bootstrap-token-abcdef', { type: 'merge', value: { stringData: sooner } })
    await world.advance(6_000)
    assert.equal(await find(world), undefined)
  },
  OPTIONS,
)
