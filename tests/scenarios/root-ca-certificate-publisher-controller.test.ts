import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'

const NAME = 'kube-root-ca.crt'

scenario(
  'Given a running cluster, when the ConfigMap is deleted, then it is back; when it is modified, then it is restored',
  async (world) => {
    const find = () => world.find(resources.configmaps, NAME)
    const first = await world.until('the bundle', 5_000, find)
    assert.match(first.data?.['ca.crt'] ?? '', /BEGIN CERTIFICATE/)
    await world.of(resources.configmaps).delete(NAME)
    const second = await world.until('the bundle again', 5_000, find)
    assert.notEqual(second.metadata?.uid, first.metadata?.uid)
    await world
      .of(resources.configmaps)
      .patch(NAME, { type: 'merge', value: { data: { 'ca.crt': 'x', more: 'y' } } })
    const restored = await world.until('restored', 5_000, async () => {
      const now = await find()
      return now?.data?.['ca.crt'] === 'x' ? undefined : now
    })
    assert.deepEqual(restored.data, first.data)
  },
)

scenario(
  'Given a Pod with a projected service account volume, then `ca.crt` is available from this ConfigMap',
  async (world) => {
    const created = await world.of(resources.pods).create(pod('p'))
    const sources = created.spec?.volumes?.flatMap((volume) => volume.projected?.sources ?? [])
    const bundle = sources?.find((source) => source.configMap !== undefined)?.configMap
    assert.equal(bundle?.name, NAME)
    assert.deepEqual(bundle?.items, [{ key: 'ca.crt', path: 'ca.crt' }])
    assert.ok((await world.find(resources.configmaps, NAME))?.data?.['ca.crt'])
  },
)
