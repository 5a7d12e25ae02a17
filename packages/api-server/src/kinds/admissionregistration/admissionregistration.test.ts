import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'
import { rulesFor } from '../index.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const VALIDATING_WEBHOOK_CONFIGURATION = kind('ValidatingWebhookConfiguration')
const VALIDATING_ADMISSION_POLICY = kind('ValidatingAdmissionPolicy')
const VALIDATING_ADMISSION_POLICY_BINDING = kind('ValidatingAdmissionPolicyBinding')
const RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const webhook = (change: Draft): Draft => ({
  webhooks: [
    {
      name: 'a.b.c',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://x' },
      ...change,
    },
  ],
})
const policy = (change: Draft): Draft => ({
  spec: {
    matchConstraints: { resourceRules: [RULE] },
    validations: [{ expression: 'true' }],
    ...change,
  },
})

/** Paths, with what is said of them after the path itself. */
const SERVICE_PATHS: readonly (readonly [string, readonly string[]])[] = [
  ['/', []],
  ['/a/b', []],
  ['/a/b/', []],
  ['a', ["must start with a '/'", 'segment[0] may not be empty']],
  ['zz/b', ["must start with a '/'"]],
  ['//', ['segment[0] may not be empty']],
  ['/a//b', ['segment[1] may not be empty']],
  ['/a/b//', ['segment[2] may not be empty']],
  ['/a/..', [`segment[1]: ${SUBDOMAIN}`]],
  ['/A?b//c', [`segment[0]: ${SUBDOMAIN}`, 'segment[1] may not be empty']],
]

function servicePathCases() {
  return SERVICE_PATHS.map(([path, messages]) => {
    const service = { namespace: 'n', name: 's', port: 443, path }
    const field = 'webhooks[0].clientConfig.service.path'
    const shown = messages.map((message) => `${field}: Invalid value: "${path}": ${message}`)
    return [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({ clientConfig: { service } }),
      shown,
    ] as const
  })
}

test('what a create is refused for', () => {
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [VALIDATING_WEBHOOK_CONFIGURATION, webhook({ name: '' }), ['webhooks[0].name: Required value']],
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({ name: 'a' }),
      [
        'webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots',
      ],
    ],
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({ clientConfig: { url: 'Not Valid!' } }),
      [
        'webhooks[0].clientConfig.url: Invalid value: "": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
      ],
    ],
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({ clientConfig: { url: 'https://u@h/p?q#f' } }),
      [
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
      ],
    ],
    ...servicePathCases(),
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({ admissionReviewVersions: ['v1', 'v1', 'V'] }),
      [
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
        "webhooks[0].admissionReviewVersions[2]: Invalid value: \"V\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({
        rules: [
          {
            operations: ['*', 'CREATE'],
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['*/*', 'pods', 'a/b/c'],
          },
        ],
      }),
      [
        'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
        'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods","a/b/c"]: if \'*/*\' is present, must not specify other resources',
      ],
    ],
    [
      VALIDATING_WEBHOOK_CONFIGURATION,
      webhook({
        matchConditions: [
          { name: '', expression: '' },
          { name: 'a', expression: 'x' },
          { name: 'a', expression: 'true' },
        ],
      }),
      [
        'webhooks[0].matchConditions[0].expression: Required value',
        'webhooks[0].matchConditions[0].name: Required value',
        "webhooks[0].matchConditions[1].expression: Invalid value: \"x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^",
        'webhooks[0].matchConditions[2].name: Duplicate value: "a"',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY,
      policy({ matchConstraints: {} }),
      ['spec.matchConstraints.resourceRules: Required value'],
    ],
    [
      VALIDATING_ADMISSION_POLICY,
      policy({ validations: [{ expression: '1', message: 'a\nb', reason: 'Unauthorized' }] }),
      [
        'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY,
      policy({ validations: undefined }),
      [
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY,
      policy({ variables: [{ name: 'in', expression: '' }] }),
      [
        'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
        'spec.variables[0].expression: Required value: expression is not specified',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY,
      policy({ auditAnnotations: [{ key: 'a b', valueExpression: '' }] }),
      [
        "spec.auditAnnotations[0].key: Invalid value: \"x/a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY_BINDING,
      { spec: { policyName: 'P', validationActions: [] } },
      [
        "spec.policyName: Invalid value: \"P\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'spec.validationActions: Required value: at least one validation action is required',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY_BINDING,
      { spec: { policyName: 'p', validationActions: ['Deny', 'Warn', 'Warn'] } },
      [
        'spec.validationActions[2]: Duplicate value: "Warn"',
        'spec.validationActions: Invalid value: ["Deny","Warn","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      VALIDATING_ADMISSION_POLICY_BINDING,
      { spec: { policyName: 'p', validationActions: ['Audit'], paramRef: {} } },
      [
        'spec.paramRef: Required value: one of name or selector must be specified',
        'spec.paramRef.parameterNotFoundAction: Required value',
      ],
    ],
  ]
  for (const [type, object, errors] of cases)
    assert.deepEqual(createErrors(type, object), errors, JSON.stringify(object))
})

test('Given parameters by name or by selector, then the row of the binding shows them as Go would.', () => {
  const rules = rulesFor('admissionregistration.k8s.io', 'ValidatingAdmissionPolicyBinding')!
  const { cell } = rules.columns!.find(({ name }) => name === 'ParamRef')!
  const cases: readonly (readonly [Draft | undefined, string])[] = [
    [undefined, '<unset>'],
    [{ name: 'n' }, '*/n'],
    [{ name: 'n', namespace: 's' }, 's/n'],
    [
      { selector: { matchLabels: { b: '2', a: '1' } } },
      '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}',
    ],
  ]
  for (const [paramRef, text] of cases) assert.equal(cell({ spec: { paramRef } }, 0), text)
})

test('a patch type that is none is told, however it is called', () => {
  for (const patchType of ['toString', '__proto__', 'X'])
    assert.deepEqual(
      createErrors(kind('MutatingAdmissionPolicy'), {
        spec: {
          matchConstraints: {
            resourceRules: [
              { operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods'] },
            ],
          },
          reinvocationPolicy: 'Never',
          mutations: [{ patchType, applyConfiguration: { expression: 'Object{}' } }],
        },
      }),
      [
        `spec.mutations[0].patchType: Unsupported value: "${patchType}": supported values: "ApplyConfiguration", "JSONPatch"`,
      ],
    )
})
