/** What writes of a status are refused for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { context, createErrors } from './fixtures.ts'
import { rulesFor } from './index.ts'

function statusErrors(
  group: string,
  kind: string,
  object: Draft,
  subresource = 'status',
): string[] {
  const rules = rulesFor(group, kind)
  const own = subresource === 'status' ? rules?.status : rules?.subresources?.[subresource]
  const errors = new FieldErrors()
  own?.validateUpdate?.({ metadata: {}, ...object }, {}, errors, context)
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

test('status of several kinds', () => {
  const good = {
    type: 'A',
    status: 'True',
    reason: 'R',
    lastTransitionTime: '2024-01-01T00:00:00Z',
  }
  const at = 'status.conditions'
  const cases: readonly (readonly [string, string, Draft, readonly string[]])[] = [
    ['policy', 'PodDisruptionBudget', { status: { conditions: [good] } }, []],
    [
      'policy',
      'PodDisruptionBudget',
      {
        status: {
          conditions: [good, { type: 'A', status: 'x', observedGeneration: -1, reason: '1' }],
          expectedPods: -1,
        },
      },
      [
        `${at}[1].type: Duplicate value: "A"`,
        `${at}[1].status: Unsupported value: "x": supported values: "False", "True", "Unknown"`,
        `${at}[1].observedGeneration: Invalid value: -1: must be greater than or equal to zero`,
        `${at}[1].lastTransitionTime: Required value`,
        `${at}[1].reason: Invalid value: "1": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')`,
        'status.expectedPods: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'flowcontrol.apiserver.k8s.io',
      'FlowSchema',
      { status: { conditions: [good, {}, good] } },
      [`${at}[1].type: Required value`, `${at}[2].type: Duplicate value: "A"`],
    ],
    [
      'apiregistration.k8s.io',
      'APIService',
      { status: { conditions: [{ type: 'A', status: 'x' }] } },
      [`${at}[0].status: Unsupported value: "x": supported values: "True", "False", "Unknown"`],
    ],
    ['', 'Namespace', { status: { phase: 'Active' } }, []],
    [
      'storage.k8s.io',
      'VolumeAttachment',
      { status: { attachError: { errorCode: -1 }, detachError: { errorCode: 0 } } },
      [
        'status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      '',
      'Namespace',
      { status: { phase: 'Terminating' } },
      [
        'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
      ],
    ],
    [
      '',
      'Namespace',
      { metadata: { deletionTimestamp: 't' }, status: { phase: 'Active' } },
      [
        'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
      ],
    ],
  ]
  for (const [group, kind, object, errors] of cases)
    assert.deepEqual(statusErrors(group, kind, object), errors, `${kind} ${JSON.stringify(object)}`)
})

test('finalizers of a namespace', () => {
  const message = 'name is neither a standard finalizer name nor is it fully qualified'
  const spec = { finalizers: ['kubernetes', 'a.b/c', 'own'] }
  assert.deepEqual(statusErrors('', 'Namespace', { spec }, 'finalize'), [
    `spec.finalizers[2]: Invalid value: "own": ${message}`,
  ])
  const namespace = { group: '', version: 'v1', kind: 'Namespace', namespaced: false }
  assert.deepEqual(createErrors(namespace, { spec }), [
    `spec.finalizers: Invalid value: "own": ${message}`,
  ])
})
