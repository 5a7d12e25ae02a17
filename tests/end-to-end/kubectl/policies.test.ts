/** What kubectl shows of checked policies. Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md. */
import { after, before, test } from 'node:test'
import { begin, expectAll, file, finish, gyro } from './session.ts'

before(begin)
after(finish)

const policy = (expression: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'few-replicas' },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['deployments'],
        },
      ],
    },
    validations: [{ expression }],
  },
})

test('a policy with a fault says so in its status, until it is mended', () => {
  expectAll([
    [
      `apply -f ${file('faulty.json', policy("object.spec.replicas > '1'"))}`,
      'validatingadmissionpolicy.admissionregistration.k8s.io/few-replicas created\n',
    ],
  ])
  gyro.ok(
    'wait',
    'validatingadmissionpolicy/few-replicas',
    '--for=jsonpath={.status.observedGeneration}=1',
  )
  expectAll([
    [
      'get validatingadmissionpolicy few-replicas -o jsonpath={.status.typeChecking.expressionWarnings[*].fieldRef}',
      'spec.validations[0].expression',
    ],
    [
      'describe validatingadmissionpolicy few-replicas',
      /\n {2}Type Checking:\n {4}Expression Warnings:\n {6}Field Ref: +spec\.validations\[0\]\.expression\n {6}Warning: +apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '\(int, string\)'\n/,
    ],
    [
      `apply -f ${file('mended.json', policy('object.spec.replicas > 1'))}`,
      'validatingadmissionpolicy.admissionregistration.k8s.io/few-replicas configured\n',
    ],
  ])
  gyro.ok(
    'wait',
    'validatingadmissionpolicy/few-replicas',
    '--for=jsonpath={.status.observedGeneration}=2',
  )
  expectAll([
    ['get validatingadmissionpolicy few-replicas -o jsonpath={.status.typeChecking}', '{}'],
  ])
})
