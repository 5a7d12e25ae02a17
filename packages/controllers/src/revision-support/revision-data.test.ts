import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { revisionHash } from '@gyropilot/api'
import type { ControllerRevision, PodTemplateSpec } from '@gyropilot/api'
import { TEMPLATE } from '../workload-support/fixtures.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { controllerRevision } from './fixtures.ts'
import {
  dataText,
  defaultedTemplateOf,
  sameData,
  templateOf,
  roundedTemplatePatch,
  templatePatch,
} from './revision-data.ts'

// Made by kube-controller-manager 1.36 for a set `db` whose template holds all that JSON may be written in two ways for.
const RECORDED_HASH = '758c5b4b97'
const RECORDED_TEXT =
  '{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"t":"a\\u003cb\\u003e\\u0026c\\u2028dé\x7f\\t\\""},"labels":{"10":"x","9":"y","app":"a"}},"spec":{"containers":[{"image":"img:1","imagePullPolicy":"IfNotPresent","name":"c","resources":{"requests":{"cpu":"100m","memory":"1Gi"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{"runAsUser":907199254},"terminationGracePeriodSeconds":0,"tolerations":[{"effect":"NoExecute","key":"x","operator":"Exists","tolerationSeconds":9007199254740992}]}}}}'
const RECORDED_TEMPLATE = {
  metadata: {
    labels: { app: 'a', '10': 'x', '9': 'y' },
    annotations: { t: 'a<b>&c\u2028d\u00e9\u007f\t"' },
  },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'img:1',
        resources: { requests: { memory: '1Gi', cpu: '100m' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 0,
    dnsPolicy: 'ClusterFirst',
    securityContext: { runAsUser: 907199254 },
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9007199254740993n },
    ],
  },
} as unknown as PodTemplateSpec

test('the data of a revision is upstream’s, byte for byte, and so is its hash', () => {
  const { data, text } = roundedTemplatePatch(RECORDED_TEMPLATE)
  assert.equal(text, RECORDED_TEXT)
  assert.equal(revisionHash(text, 0), RECORDED_HASH)
  assert.equal(dataText(controllerRevision({ data })), RECORDED_TEXT)
  assert.equal(dataText(controllerRevision({ data: JSON.parse(RECORDED_TEXT) })), RECORDED_TEXT)
})

test('integers beyond 2^53 are exact in a revision of a DaemonSet', () => {
  const { data, text } = templatePatch(RECORDED_TEMPLATE)
  assert.equal(text, RECORDED_TEXT.replace('9007199254740992', '9007199254740993'))
  assert.equal(dataText(controllerRevision({ data })), text)
})

test('who prints the data as it stands gets sorted keys', () => {
  const text = JSON.stringify(templatePatch(TEMPLATE).data)
  assert.equal(text, templatePatch(TEMPLATE).text)
  assert.match(text, /^\{"spec":\{"template":\{"\$patch":"replace","metadata":/)
})

test('the patch of one template is made once', () => {
  assert.equal(templatePatch(TEMPLATE), templatePatch(TEMPLATE))
})

const FLAVOURS = {
  statefulset: (revision: ControllerRevision) => revisionHash(dataText(revision), 0),
  daemonset: (revision: ControllerRevision) => podTemplateHash(templateOf(revision)!),
}

for (const [group, hashOf] of Object.entries(FLAVOURS)) {
  test(`every revision in the recordings of a ${group} has the hash that is computed here`, () => {
    const revisions = recordedRevisions(group)
    assert.ok(revisions.length > 1)
    for (const revision of revisions) {
      const { name } = revision.metadata!
      assert.equal(name!.slice(name!.lastIndexOf('-') + 1), hashOf(revision))
      assert.equal(templatePatch(templateOf(revision)!).text, dataText(revision))
    }
  })
}

test('revisions are the same by content, whatever the order of keys', () => {
  const other = controllerRevision({
    name: 'other',
    data: {
      spec: { template: { spec: TEMPLATE.spec, metadata: TEMPLATE.metadata, $patch: 'replace' } },
    },
  })
  assert.ok(sameData(controllerRevision(), other))
  const changed = { ...TEMPLATE, spec: { containers: [{ name: 'c', image: 'img:2' }] } }
  assert.ok(!sameData(controllerRevision(), controllerRevision({ template: changed })))
})

test('a null of an older release is another revision', () => {
  const metadata = { ...TEMPLATE.metadata, creationTimestamp: null } as never
  const old = controllerRevision({ template: { ...TEMPLATE, metadata } })
  assert.match(dataText(old), /"creationTimestamp":null/)
  assert.ok(!sameData(old, controllerRevision()))
})

test('a revision gives back its template', () => {
  assert.deepEqual(templateOf(controllerRevision()), TEMPLATE)
  assert.equal(templateOf(controllerRevision({ data: {} })), undefined)
  assert.equal(templateOf(controllerRevision({ data: { spec: { template: null } } })), undefined)
  assert.equal(dataText({ revision: 1 }), '')
  assert.equal(dataText({ revision: 1, data: null as never }), '')
})

test('the template as a server would have it today has the defaults, is made once, and the revision stays as it is', () => {
  const revision = controllerRevision()
  const complete = defaultedTemplateOf(revision)
  assert.equal(complete?.spec?.restartPolicy, 'Always')
  assert.equal(complete.spec.containers[0]?.terminationMessagePath, '/dev/termination-log')
  assert.equal(defaultedTemplateOf(revision), complete)
  assert.deepEqual(templateOf(revision), TEMPLATE)
  assert.equal(defaultedTemplateOf(controllerRevision({ data: {} })), undefined)
})

function recordedRevisions(group: string): readonly ControllerRevision[] {
  const folder = join(import.meta.dirname, '../../../../tests/recordings/scenarios')
  const { scenarios } = JSON.parse(readFileSync(join(folder, `${group}.json`), 'utf8')) as {
    scenarios: { steps: { expect?: ControllerRevision[] }[] }[]
  }
  return scenarios
    .flatMap(({ steps }) => steps.flatMap(({ expect = [] }) => expect))
    .filter(({ kind }) => kind === 'ControllerRevision')
}
