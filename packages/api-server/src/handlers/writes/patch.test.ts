import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiError } from '../../contracts.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { Decoding } from '../bodies/decoding.ts'
import { parsePatch, patchObject, type PatchType } from './patch.ts'

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }
const CURRENT = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } }

function problemsOf(type: Exclude<PatchType, 'apply'>, text: string): readonly string[] {
  const warnings: string[] = []
  const decoding: Decoding = {
    registry: undefined as unknown as ResourceRegistry,
    expected: CONFIG_MAP,
    resource: undefined,
    validation: 'Warn',
    warn: (warning) => warnings.push(warning),
  }
  patchObject(type, parsePatch(text, type, 'Warn'), CURRENT, decoding)
  if (warnings.length > 0) {
    assert.throws(
      () =>
        patchObject(type, parsePatch(text, type, 'Strict'), CURRENT, {
          ...decoding,
          validation: 'Strict',
        }),
      (error: ApiError) =>
        error.code === 422 &&
        error.message.endsWith(`: strict decoding error: ${warnings.join(', ')}`),
    )
  }
  return warnings
}

for (const type of ['merge', 'strategic'] as const) {
  test(`members that a ${type} patch repeats are told before unknown ones`, () => {
    assert.deepEqual(problemsOf(type, '{"zz":1,"zz":2,"data":{"b":"1","b":"1","a":"1","a":"1"}}'), [
      'duplicate field "zz"',
      'duplicate field "data.b"',
      'duplicate field "data.a"',
      'unknown field "zz"',
    ])
    assert.deepEqual(problemsOf(type, '{"data":{"a":"2"}}'), [])
  })
}

test('operations tell repeated members of their own and of their values, and so does the object', () => {
  const add =
    '[{"op":"add","op":"add","path":"/data","value":{"b":"1","b":"2","b":"3"},"foo":1,"foo":2}]'
  assert.deepEqual(problemsOf('json', add), [
    'json patch duplicate field "[0].op"',
    'json patch duplicate field "[0].value.b"',
    'json patch unknown field "[0].foo"',
    'duplicate field "data.b"',
  ])
})

/** `[type, patch, refusal where fields are judged, refusal where they are not]`; '' for none. */
const REFUSALS: readonly (readonly [
  type: Exclude<PatchType, 'apply'>,
  text: string,
  judged: string,
  ignored: string,
])[] = [
  [
    'json',
    '{}',
    '400 error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    '400 json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  ],
  [
    'json',
    '[1]',
    '400 error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
    '400 json: cannot unmarshal number into Go value of type jsonpatch.Operation',
  ],
  [
    'json',
    '[{"op":1}]',
    '400 error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    '{',
    '400 error decoding patch: unexpected end of JSON input',
    '400 unexpected end of JSON input',
  ],
  ['json', 'null', '', ''],
  [
    'merge',
    '{',
    '400 error decoding patch: unexpected end of JSON input',
    '400 Invalid JSON Patch',
  ],
  [
    'merge',
    '"x"',
    '400 error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}',
    '400 Invalid JSON Patch',
  ],
  [
    'merge',
    '[1]',
    '400 error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    '422  "" is invalid: patch: Invalid value: "[1]": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  [
    'merge',
    '{"data":{"n":1e309,"n":1}}',
    '400 error decoding patch: json: cannot unmarshal number 1e309 into Go value of type float64',
    '422  "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"kind\\":\\"ConfigMap\\",\\"metadata\\":{\\"name\\":\\"a\\"},\\"data\\":{\\"a\\":\\"1\\",\\"n\\":1}}": json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ],
  [
    'merge',
    '[1e309]',
    '400 error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    '422  "" is invalid: patch: Invalid value: "[1e309]": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  [
    'json',
    '[{"op":"remove","path":"/data/a"},{"op":"add","path":"/data/n","value":-1e400}]',
    '400 error decoding patch: json: cannot unmarshal number -1e400 into Go struct field jsonPatchOp.value of type float64',
    '422  "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"n\\":-1e400},\\"kind\\":\\"ConfigMap\\",\\"metadata\\":{\\"name\\":\\"a\\"}}": json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ],
  [
    'json',
    '[{"op":"replace","path":"/data","value":{"n":[1e400]}}]',
    '400 error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64',
    '422  "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":{\\"n\\":[1e400]},\\"kind\\":\\"ConfigMap\\",\\"metadata\\":{\\"name\\":\\"a\\"}}": json: cannot unmarshal array into Go struct field ConfigMap.data of type string',
  ],
  [
    'strategic',
    '{"data":{"n":1e309}}',
    '400 json: cannot unmarshal number 1e309 into Go value of type float64',
    '400 json: cannot unmarshal number 1e309 into Go value of type float64',
  ],
]

for (const [type, text, judged, ignored] of REFUSALS) {
  test(`a ${type} patch ${text} is refused in the words of what reads it`, () => {
    for (const [validation, expected] of [
      ['Strict', judged],
      ['Ignore', ignored],
    ] as const) {
      const decoding: Decoding = {
        registry: undefined as unknown as ResourceRegistry,
        expected: CONFIG_MAP,
        resource: undefined,
        validation,
        warn: () => {},
      }
      let refusal = ''
      try {
        patchObject(type, parsePatch(text, type, validation), CURRENT, decoding)
      } catch (error) {
        const { code, message } = error as ApiError
        refusal = `${code} ${message}`
      }
      assert.equal(refusal, expected)
    }
  })
}

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: {} }

/** What becomes of a patch of the Deployment: its replicas, or the refusal. */
function replicasOf(type: Exclude<PatchType, 'apply'>, text: string): unknown {
  const decoding: Decoding = {
    registry: undefined as unknown as ResourceRegistry,
    expected: { group: 'apps', version: 'v1', kind: 'Deployment' },
    resource: undefined,
    validation: 'Strict',
    warn: () => {},
  }
  try {
    return patchObject(type, parsePatch(text, type, 'Strict'), DEPLOYMENT, decoding)['spec']
      .replicas
  } catch (error) {
    return (error as ApiError).message
  }
}

test('a number in a merge or JSON patch stands in what it makes as it was written: no integer takes a fraction or an exponent', () => {
  const refusal = (shown: string) =>
    ` "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"apps/v1\\",\\"kind\\":\\"Deployment\\",\\"metadata\\":{\\"name\\":\\"a\\"},\\"spec\\":{\\"replicas\\":${shown}}}": json: cannot unmarshal number ${shown} into Go struct field DeploymentSpec.spec.replicas of type int32`
  for (const written of ['3.0', '3e0', '-0.0']) {
    assert.equal(replicasOf('merge', `{"spec":{"replicas":${written}}}`), refusal(written))
    const add = `{"op":"add","path":"/spec/replicas","value":${written}}`
    assert.equal(replicasOf('json', `[${add}]`), refusal(written))
    assert.equal(replicasOf('json', `[${add},{"op":"remove","path":"/spec/replicas"}]`), undefined)
    const copied = `{"op":"copy","from":"/spec/x","path":"/spec/replicas"},{"op":"remove","path":"/spec/x"}`
    assert.equal(
      replicasOf('json', `[${add.replace('replicas', 'x')},${copied}]`),
      refusal(written),
    )
  }
  assert.equal(replicasOf('strategic', '{"spec":{"replicas":3.0}}'), 3)
})

test('what a JSON patch opened is written with its keys in order, what it set as it was sent: problems come so', () => {
  const set = '{"op":"add","path":"/data","value":{"z":"1","a":"2"}}'
  const unknown = (...paths: readonly string[]): string =>
    paths.map((path) => `{"op":"add","path":"${path}","value":{"y":1,"x":1}}`).join()
  assert.deepEqual(
    problemsOf('json', `[${set},${unknown('/zz', '/metadata/z', '/aa', '/metadata/a')}]`),
    [
      'unknown field "aa"',
      'unknown field "metadata.a"',
      'unknown field "metadata.z"',
      'unknown field "zz"',
    ],
  )
  const metadata = '{"op":"replace","path":"/metadata","value":{"z":1,"name":"a","b":1}}'
  assert.deepEqual(problemsOf('json', `[${metadata}]`), [
    'unknown field "metadata.z"',
    'unknown field "metadata.b"',
  ])
  assert.deepEqual(
    problemsOf(
      'json',
      `[${metadata},{"op":"remove","path":"/metadata/uid"}]`.replace('remove', 'replace'),
    ),
    ['unknown field "metadata.b"', 'unknown field "metadata.z"'],
  )
})

test('a JSON patch compares numbers by how they are written', () => {
  const add = '{"op":"add","path":"/spec/replicas","value":3}'
  const found = (written: string) =>
    replicasOf('json', `[${add},{"op":"test","path":"/spec/replicas","value":${written}}]`)
  assert.equal(found('3'), 3)
  for (const written of ['3.0', '30e-1'])
    assert.equal(found(written), 'the server rejected our request due to an error in our request')
})
