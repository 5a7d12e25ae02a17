import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'

scenario(
  'Given a running cluster, when a namespace is created, then `default` appears; when it is deleted, it appears again with another uid',
  async (world) => {
    await world.of(resources.namespaces).create({ metadata: { name: 'a' } })
    const find = () => world.find(resources.serviceaccounts, 'default', 'a')
    const first = await world.until('the default account', 5_000, find)
    await world.of(resources.serviceaccounts, 'a').delete('default')
    const second = await world.until('the default account again', 5_000, find)
    assert.notEqual(second.metadata?.uid, first.metadata?.uid)
  },
)

scenario('Given a pod without serviceAccountName, then it uses `default`', async (world) => {
  const created = await world.of(resources.pods).create(pod('p'))
  assert.equal(created.spec?.serviceAccountName, 'default')
})

scenario('Given a new account, then no Secret-based token is generated', async (world) => {
  await world
    .of(resources.serviceaccounts)
    .create({ metadata: { name: 'robot', namespace: 'default' } })
  await world.advance(30_000)
  assert.deepEqual(await world.list(resources.secrets), [])
  assert.equal((await world.find(resources.serviceaccounts, 'robot'))?.secrets, undefined)
})
