import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors } from '../fixtures.ts'

const AUTOSCALER = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' }
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }

test('rules of autoscalers', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { scaleTargetRef: { apiVersion: 'a/b/c', kind: 'Deployment', name: 'x' } },
      [
        'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      ],
    ],
    [
      { scaleTargetRef: { kind: 'Deployment', name: 'x' } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group'],
    ],
    [
      { scaleTargetRef: { apiVersion: 'v1', kind: 'Deployment', name: 'x' } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
    ],
    [
      { scaleTargetRef: { apiVersion: 'apps/v1', kind: '', name: 'a/b' } },
      [
        'spec.scaleTargetRef.kind: Required value',
        'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
      ],
    ],
    [
      { minReplicas: -1, maxReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: -1: must be greater than or equal to 1',
        'spec.maxReplicas: Required value: must be set and greater than 0',
      ],
    ],
    [
      { minReplicas: 3 },
      ['spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`'],
    ],
    [
      { minReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      { metrics: [{ type: 'Resource' }] },
      [
        'spec.metrics[0].resource: Required value: must populate information for the given metric source',
      ],
    ],
    [
      { metrics: [{ type: 'x' }] },
      [
        'spec.metrics[0].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
        'spec.metrics[0].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      ],
    ],
    [
      {
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }],
      },
      [
        'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'cpu',
              container: 'Not Valid!',
              target: { type: 'Utilization', averageUtilization: 1 },
            },
          },
        ],
      },
      [
        "spec.metrics[0].containerResource.container: Invalid value: \"Not Valid!\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'Pods',
            pods: { metric: { name: '' }, target: { type: 'Value', averageValue: '-1' } },
          },
        ],
      },
      [
        'spec.metrics[0].pods.metric.name: Required value: must specify a metric name',
        'spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive',
      ],
    ],
    [
      {
        behavior: {
          scaleUp: {
            selectPolicy: 'x',
            stabilizationWindowSeconds: 9999,
            policies: [{ type: 'y', value: 0, periodSeconds: 9999 }],
          },
        },
      },
      [
        'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 9999: must be less than or equal to 3600',
        'spec.behavior.scaleUp.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"',
        'spec.behavior.scaleUp.policies[0].type: Unsupported value: "y": supported values: "Percent", "Pods"',
        'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 9999: must be less than or equal to 1800',
      ],
    ],
  ]
  for (const [rest, expected] of cases)
    assert.deepEqual(
      createErrors(AUTOSCALER, { spec: { maxReplicas: 2, scaleTargetRef, ...rest } }),
      expected,
      JSON.stringify(rest),
    )
})
