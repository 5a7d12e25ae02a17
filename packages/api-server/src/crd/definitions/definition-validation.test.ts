import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { definitionRules } from './definition-rules.ts'
import {
  definitionName,
  validateDefinition,
  validateDefinitionUpdate,
  validateStoredVersions,
} from './definition-validation.ts'

const SCHEMA = {
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } } },
    },
  },
}

function definition(edit: (object: Draft) => void = () => undefined): Draft {
  const object: Draft = {
    metadata: { name: 'things.spec-x.example.com' },
    spec: {
      group: 'spec-x.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: SCHEMA }],
    },
  }
  edit(object)
  definitionRules.defaults?.(object)
  definitionRules.prepareForCreate?.(object, { nowMs: 0, userName: '', featureEnabled: () => true })
  return object
}

function texts(edit?: (object: Draft) => void): readonly string[] {
  const errors = new FieldErrors()
  validateDefinition(definition(edit), errors)
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

test('a small definition is valid and gets its defaults', () => {
  assert.deepEqual(texts(), [])
  const { spec, status } = definition()
  assert.deepEqual(
    [spec.names.singular, spec.names.listKind, spec.conversion],
    ['thing', 'ThingList', { strategy: 'None' }],
  )
  assert.deepEqual(status.storedVersions, ['v1'])
})

const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

test('the name of a definition is made of plural and group', () => {
  const object = { spec: { group: 'example.com', names: { plural: 'things' } } }
  const other = 'must be spec.names.plural+"."+spec.group'
  assert.deepEqual(definitionName('things.example.com', false, object), [])
  assert.deepEqual(definitionName('x', false, object), [other])
  assert.deepEqual(definitionName('x-', true, object), [other])
  assert.equal(definitionName('X', false, object).length, 2)
})

test('each rule of names and versions has its message', () => {
  const cases: readonly [string, (object: Draft) => void, readonly string[]][] = [
    [
      'group without a dot',
      (o) => {
        o['spec'].group = 'a'
        o['metadata'].name = 'things.a'
      },
      ['spec.group: Invalid value: "a": should be a domain with at least one dot'],
    ],
    [
      'protected group',
      (o) => {
        o['spec'].group = 'x.k8s.io'
        o['metadata'].name = 'things.x.k8s.io'
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    ['scope', (o) => (o['spec'].scope = ''), ['spec.scope: Required value']],
    [
      'no kind',
      (o) => Object.assign(o['spec'].names, { kind: '', listKind: '' }),
      [
        'spec.names.singular: Required value',
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
      ],
    ],
    [
      'bad names',
      (o) =>
        Object.assign(o['spec'].names, {
          singular: 'a',
          kind: 'A b',
          listKind: 'L',
          shortNames: ['X'],
        }),
      [
        `spec.names.kind: Invalid value: "A b": may have mixed case, but should otherwise match: ${LABEL}`,
        `spec.names.shortNames[0]: Invalid value: "X": ${LABEL}`,
      ],
    ],
    [
      'protected group without a good reason',
      (o) => {
        o['spec'].group = 'x.k8s.io'
        o['metadata'] = {
          name: 'things.x.k8s.io',
          annotations: { 'api-approved.kubernetes.io': 'yes' },
        }
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'webhook without encryption',
      (o) =>
        (o['spec'].conversion = {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { url: 'http://x' },
            conversionReviewVersions: ['v1', 'v1', 'V'],
          },
        }),
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version',
        `spec.conversion.conversionReviewVersions[2]: Invalid value: "V": ${LABEL}`,
      ],
    ],
    [
      'equal kinds',
      (o) => (o['spec'].names.listKind = 'Thing'),
      ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same'],
    ],
    [
      'no schema',
      (o) => delete o['spec'].versions[0].schema,
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'preserveUnknownFields',
      (o) => (o['spec'].preserveUnknownFields = true),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'webhook without client',
      (o) => (o['spec'].conversion = { strategy: 'Webhook' }),
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'long deprecation warning',
      (o) =>
        Object.assign(o['spec'].versions[0], {
          deprecated: true,
          deprecationWarning: 'x'.repeat(257),
        }),
      [
        `spec.versions[0].deprecationWarning: Invalid value: "${'x'.repeat(257)}": must be <= 256 characters long`,
      ],
    ],
    [
      'column',
      (o) =>
        (o['spec'].versions[0].additionalPrinterColumns = [
          { name: 'A', type: 'foo', jsonPath: 'spec' },
        ]),
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
      ],
    ],
    [
      'scale paths',
      (o) =>
        (o['spec'].versions[0].subresources = {
          scale: { specReplicasPath: '.status.a', statusReplicasPath: '.spec.a' },
        }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.a": should be a json path under .status',
      ],
    ],
    [
      'selectable fields',
      (o) =>
        (o['spec'].versions[0].selectableFields = [
          { jsonPath: '.spec.none' },
          { jsonPath: '.spec.n' },
        ]),
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec.n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
  ]
  for (const [name, edit, expected] of cases) assert.deepEqual(texts(edit), expected, name)
})

test('with different schemas the version is named, with one schema the shared place', () => {
  const bad = { openAPIV3Schema: { type: 'object', properties: { x: {} } } }
  const alone = texts((o) => (o['spec'].versions[0].schema = bad))
  assert.match(alone[0]!, /^spec\.validation\.openAPIV3Schema\.properties\[x\]\.type/)
  const both = texts((o) =>
    o['spec'].versions.push({ name: 'v2', served: true, storage: false, schema: bad }),
  )
  assert.match(both[0]!, /^spec\.versions\[1\]\.schema\.openAPIV3Schema\.properties\[x\]\.type/)
})

test('group and plural never change, scope and kind not once established', () => {
  const check = (established: boolean, edit: (object: Draft) => void): readonly string[] => {
    const stored = definition()
    if (established) stored['status'].conditions = [{ type: 'Established', status: 'True' }]
    const errors = new FieldErrors()
    validateDefinitionUpdate(definition(edit), stored, errors)
    return errors.list.map(({ field, message }) => `${field}: ${message}`)
  }
  const changeScope = (object: Draft): void => void (object['spec'].scope = 'Cluster')
  assert.deepEqual(check(false, changeScope), [])
  assert.deepEqual(check(true, changeScope), [
    'spec.scope: Invalid value: "Cluster": field is immutable',
  ])
  assert.deepEqual(
    check(false, (object) => void (object['spec'].names.plural = 'others')),
    ['spec.names.plural: Invalid value: "others": field is immutable'],
  )
})

test('a status without stored versions gets the one that is stored', () => {
  const definition: Draft = {
    spec: { names: { kind: 'A' }, versions: [{ name: 'v1' }, { name: 'v2', storage: true }] },
  }
  definitionRules.defaults!(definition)
  assert.deepEqual(definition['status'], { storedVersions: ['v2'] })
})

test('the name of the first version is judged after the versions as a whole', () => {
  const two = (object: Draft): void => {
    const [version] = object['spec'].versions
    object['spec'].versions = [
      { ...version, name: 'V1' },
      { ...version, name: 'V1' },
    ]
  }
  assert.deepEqual(
    texts(two).map((text) => text.split(':')[0]),
    [
      'spec.versions[0].name',
      'spec.versions[1].name',
      'spec.versions',
      'spec.versions',
      'spec.version',
    ],
  )
})

test('each version that is stored needs an entry of its own, each entry a version', () => {
  const of = (versions: readonly string[], stored: readonly string[]): readonly string[] => {
    const errors = new FieldErrors()
    const object = {
      spec: { versions: versions.map((name) => ({ name, storage: name !== 'v9' })) },
      status: { storedVersions: stored },
    }
    validateStoredVersions(object, errors)
    return errors.list.map(({ field, message }) => `${field}: ${message}`)
  }
  const lacks = (name: string): string =>
    `status.storedVersions: Invalid value: ["v1"]: must have the storage version ${name}`
  assert.deepEqual(of(['v1', 'v9'], ['v1', 'v9']), [])
  assert.deepEqual(of(['v1', 'v2', 'v3'], ['v1']), [lacks('v2'), lacks('v3')])
  assert.deepEqual(of(['v1', 'v2', 'v1'], ['v1']), [lacks('v2'), lacks('v1')])
  const [missing, ...others] = of(['v1'], ['v2', 'v2', 'v1'])
  assert.match(missing ?? '', /^status\.storedVersions\[1\]: Invalid value: "v2": missing/)
  assert.deepEqual(others, [])
})

test('names that a status calls accepted are names', () => {
  const refused = (acceptedNames: Draft | null): readonly string[] => {
    const errors = new FieldErrors()
    const object = { ...definition(), status: { acceptedNames } }
    const context = { nowMs: 0, userName: '', featureEnabled: () => true }
    definitionRules.status!.validateUpdate!(object, definition(), errors, context)
    return errors.list.map(({ field }) => field)
  }
  assert.deepEqual(refused({ plural: '', kind: '', listKind: '' }), [])
  assert.deepEqual(refused(null), [])
  assert.deepEqual(refused({ plural: 'X y', kind: 'K', listKind: 'K', shortNames: ['a', ''] }), [
    'status.acceptedNames.plural',
    'status.acceptedNames.shortNames[1]',
    'status.acceptedNames.listKind',
  ])
})
