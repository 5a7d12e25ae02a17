import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recyclerTemplates } from './recycler-templates.ts'

const HOST_PATH = 'pv-recycler-pod-template-filepath-hostpath'
const given = (text: string) => recyclerTemplates(async (flag) => (flag === HOST_PATH ? text : ''))

test('a file holds a pod with a volume', async () => {
  const text = 'kind: Pod\nspec:\n  volumes: [{name: v}]\n'
  assert.deepEqual(await given(text), {
    hostPath: { kind: 'Pod', spec: { volumes: [{ name: 'v' }] } },
  })
  assert.deepEqual(await given(''), {})
})

for (const [text, why] of [
  ['kind: Job', 'its kind is not Pod'],
  ['kind: Pod', 'it has no volume to be emptied'],
  ['', undefined],
  ['{', 'did not find expected node content'],
] as const)
  test(`${JSON.stringify(text)}: ${why ?? 'no file, no template'}`, async () => {
    if (why === undefined) assert.deepEqual(await given(text), {})
    else
      await assert.rejects(
        given(text),
        new RegExp(`--${HOST_PATH} names no pod template: .*${why}`),
      )
  })
