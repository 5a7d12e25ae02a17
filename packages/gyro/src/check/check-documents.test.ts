import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, VirtualClock, settle } from '@gyropilot/foundation'
import { checkDocuments } from './check-documents.ts'
import { CheckingServer } from './checking-server.ts'
import type { CheckOptions } from './check-options.ts'
import { reportText } from './report-text.ts'
import { documentsOf } from './source/documents.ts'
import { SourceFile } from './source/source-file.ts'

const DEFAULTS = {
  namespace: 'default',
  podSecurity: 'privileged',
  serviceRanges: ['0.0.0.0/0', '::/0'],
  ignoreMissingKinds: false,
} as const satisfies Partial<CheckOptions>

async function check(texts: readonly string[], options: Partial<CheckOptions> = {}) {
  const wanted = { ...DEFAULTS, ...options }
  const world = { clock: new VirtualClock({ settle }), random: new SeededRandom('check') }
  const server = await CheckingServer.start(wanted, world)
  const documents = texts.flatMap((text, index) =>
    documentsOf(new SourceFile(`${'abc'[index]}`, text)),
  )
  const { objects, findings } = await checkDocuments(server, documents, wanted)
  await server.stop()
  const lines = reportText(findings, false).split('\n').slice(0, -1)
  return { lines, verdicts: objects.map(({ verdict }) => verdict) }
}

function deployment(spec: string, metadata = '{name: web}'): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: ${metadata}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: nginx}
${spec}`
}
const POD =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: a, image: b}]\n'
const HANDLED = 'in version "v1" cannot be handled as a'

const SAID: readonly (readonly [
  what: string,
  texts: readonly string[],
  lines: readonly string[],
])[] = [
  ['nothing of what is right', [deployment(''), POD], []],
  [
    'every field that the server refuses, at its place',
    [deployment('  replicas: -1\n  minReadySeconds: -2\n')],
    [
      'a:11:3: error: Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'a:12:3: error: Deployment.apps "web" is invalid: spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
  [
    'unknown fields, and besides them what is invalid',
    [deployment('  replicaz: 1\n  replicas: -1\n  strategie: {}\n')],
    [
      `a:11:3: error: Deployment default/web: Deployment ${HANDLED} Deployment: strict decoding error: unknown field "spec.replicaz"`,
      `a:13:3: error: Deployment default/web: Deployment ${HANDLED} Deployment: strict decoding error: unknown field "spec.strategie"`,
      'a:12:3: error: Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    'every value of a wrong type, unknown fields beside it, and what follows from the rest',
    [
      `${deployment('  replicas: "3"\n  paused: "true"\n  extra: 1\n  minReadySeconds: -2\n', '{name: web, labels: {v: 1.0}}')}`,
    ],
    [
      `a:3:32: error: Deployment default/web: Deployment ${HANDLED} Deployment: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string`,
      `a:11:3: error: Deployment default/web: Deployment ${HANDLED} Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`,
      `a:12:3: error: Deployment default/web: Deployment ${HANDLED} Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool`,
      `a:13:3: error: Deployment default/web: Deployment ${HANDLED} Deployment: strict decoding error: unknown field "spec.extra"`,
      'a:14:3: error: Deployment.apps "web" is invalid: spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
  [
    'where a quantity is wrong, which the server does not say',
    [
      `${POD.replace('image: b', 'image: b, resources: {limits: {cpu: 1x, memory: 1Gi, x.io/y: z}}')}`,
    ],
    ['a:5:57: ', 'a:5:79: '].map(
      (place) =>
        `${place}error: Pod default/p: Pod ${HANDLED} Pod: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    ),
  ],
  [
    'repeated keys',
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a\n  k: b\n'],
    [
      `a:6:3: error: ConfigMap default/a: ConfigMap ${HANDLED} ConfigMap: strict decoding error: key "k" already set in map`,
    ],
  ],
  [
    'warnings',
    [
      'apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\n',
      POD.replace('spec:', 'spec:\n  nodeSelector: {beta.kubernetes.io/os: linux}'),
    ],
    [
      'a:1:1: warning: Endpoints default/e: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      'b:5:18: warning: Pod default/p: spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
  ],
  [
    'what is given twice',
    [POD, `---\n${POD}`],
    ['b:4:12: warning: Pod default/p is given twice: the first time at a:1'],
  ],
  [
    'items of a list of one kind, which need not say it',
    [
      'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n  data: {c: 1}\n- kind: ConfigMap\n',
    ],
    [
      'a:7:3: error: apiVersion not set',
      'a:6:10: error: ConfigMap default/b: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
  ],
  [
    'items of lists at their places',
    [
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: A}\n- kind: ConfigMap\n',
    ],
    [
      'a:7:3: error: apiVersion not set',
      `a:6:14: error: ConfigMap "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
  ],
  [
    'kinds that nobody knows, and what may be meant',
    [
      'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: i}\n---\napiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: d}\n---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team}\n---\napiVersion: apps/v1\nkind: Zebra\n',
    ],
    [
      'a:2:1: error: Ingress i: no matches for kind "Ingress" in version "extensions/v1beta1": there is networking.k8s.io/v1',
      'a:6:1: error: Deploymnet d: no matches for kind "Deploymnet" in version "apps/v1": did you mean Deployment?',
      'a:10:1: error: Widget team/w: no matches for kind "Widget" in version "example.com/v1": give its CustomResourceDefinition besides, or --ignore-missing-kinds',
      'a:14:1: error: no matches for kind "Zebra" in version "apps/v1": the kinds of apps/v1 are others',
    ],
  ],
  [
    'what is no object',
    [
      'hello\n---\n- a\n---\nkind: A\n---\napiVersion: v1\n---\na: b\n---\nkind: [A]\napiVersion: v1\n',
    ],
    [
      'a:1:1: error: not an object of Kubernetes but a text: it has no kind and apiVersion',
      'a:3:1: error: not an object of Kubernetes but a list: it has no kind and apiVersion',
      'a:5:1: error: apiVersion not set',
      'a:7:1: error: kind not set',
      'a:9:1: error: kind not set, apiVersion not set',
      'a:11:1: error: kind is a map or list, not a string',
    ],
  ],
  [
    'nothing of addresses and names that a cluster may have',
    [
      `apiVersion: v1\nkind: Service\nmetadata: {name: dns, namespace: kube-system}\nspec: {clusterIP: 10.96.0.10, ipFamilyPolicy: RequireDualStack, ports: [{port: 53}]}\n---\n${POD.replace('spec:', 'spec:\n  serviceAccountName: robot\n  priorityClassName: high\n  priority: 7\n  runtimeClassName: gvisor\n  overhead: {cpu: 1m}')}`,
    ],
    [],
  ],
  [
    'nothing of what the server makes itself',
    ['apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {a: b}}\n'],
    [],
  ],
]
for (const [what, texts, lines] of SAID) {
  test(`says ${what}`, async () => assert.deepEqual((await check(texts)).lines, lines))
}

function definition(properties: string, more = ''): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
${more}  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: ${properties}
            x-kubernetes-validations: [{rule: self.a <= self.b, message: a must not be above b}]
`
}
const AB = '{a: {type: integer}, b: {type: integer, default: 1}}'
const widget = (spec: string): string =>
  `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: ${spec}\n`

test('custom resources are judged by definitions anywhere in the input, with defaults and rules', async () => {
  const webhook =
    'conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://example.com"}}}'
  const texts = [widget('{a: 2}'), widget('{a: 1, c: 3}'), definition(AB, `  ${webhook}\n`)]
  assert.deepEqual((await check(texts)).lines, [
    'a:4:1: error: Widget.example.com "w" is invalid: spec: Invalid value: a must not be above b',
    'b:4:14: error: Widget default/w: Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.c"',
    'b:3:12: warning: Widget default/w is given twice: the first time at a:1',
  ])
})

test('a definition that is refused is told at its place, and its objects are not', async () => {
  const { lines, verdicts } = await check([
    widget('{}'),
    definition('{a: {type: objekt}, b: {type: integer}}'),
  ])
  assert.deepEqual(verdicts, ['not checked', 'refused'])
  assert.equal(
    lines[0],
    'a:1:1: notice: Widget w: not checked: its CustomResourceDefinition at b:1 is refused'.replace(
      'default/',
      '',
    ),
  )
  assert.match(
    lines[1]!,
    /^b:18:30: error: CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: spec.validation.openAPIV3Schema.properties\[spec\].properties\[a\].type: Unsupported value: "objekt"/,
  )
})

test('two definitions that want one name', async () => {
  const other = definition(AB)
    .replace('widgets.example.com', 'wodgets.example.com')
    .replace('plural: widgets', 'plural: wodgets')
  const { lines } = await check([definition(AB), other])
  assert.deepEqual(lines, [
    'b:7:3: error: CustomResourceDefinition wodgets.example.com: names are not accepted, and the kind is not served: "WidgetList" is already in use',
  ])
})

test('kinds that nobody knows are left out on request', async () => {
  const { lines, verdicts } = await check([widget('{}')], { ignoreMissingKinds: true })
  assert.deepEqual(verdicts, ['not checked'])
  assert.match(lines[0]!, /^a:1:1: notice: Widget w: not checked: no matches for kind "Widget"/)
})

const ADMISSION = 'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy'
test('policies apply with their bindings and parameters, whatever the order', async () => {
  const binding = `${ADMISSION}Binding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny], paramRef: {name: limits, namespace: rules, parameterNotFoundAction: Deny}}
`
  const policy = `${ADMISSION}
metadata: {name: few}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: object.spec.replicas <= int(params.data.max), message: too many}]
`
  const parameters =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: rules}\ndata: {max: "3"}\n'
  const texts = [deployment('  replicas: 5\n'), `${binding}---\n${policy}---\n${parameters}`]
  assert.deepEqual((await check(texts)).lines, [
    `a:1:1: error: deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: too many`,
  ])
})

test('a list whose items are null has none, as one without items that kubectl prints', async () => {
  for (const kind of ['List', 'ConfigMapList'])
    assert.deepEqual(await check([`apiVersion: v1\nkind: ${kind}\nitems:\n`]), {
      lines: [],
      verdicts: [],
    })
})

test('a pod may say never to preempt with a class that the input does not have', async () => {
  const patient = POD.replace(
    'spec:',
    'spec:\n  priorityClassName: patient\n  preemptionPolicy: Never',
  )
  assert.deepEqual((await check([patient])).lines, [])
  const ours =
    'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: patient}\nvalue: 1\n'
  assert.match((await check([patient, ours])).lines[0]!, /^a:1:1: error: .*preemption/i)
})

test('pod security: the labels of namespaces in the input, and a level for the others', async () => {
  const labelled =
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/enforce: baseline}}\n'
  const host = POD.replace('spec:', 'spec:\n  hostNetwork: true')
  const why = 'PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
  assert.deepEqual((await check([host])).lines, [])
  assert.deepEqual((await check([host, labelled])).lines, [
    `a:1:1: error: pods "p" is forbidden: violates ${why}`,
  ])
  const elsewhere = host.replace('{name: p}', '{name: p, namespace: other}')
  assert.deepEqual((await check([elsewhere, labelled])).lines, [])
  assert.deepEqual((await check([elsewhere], { podSecurity: 'baseline' })).lines, [
    `a:1:1: error: pods "p" is forbidden: violates ${why}`,
  ])
  const workload = deployment('').replace('    spec:', '    spec:\n      hostNetwork: true')
  assert.deepEqual((await check([workload], { podSecurity: 'baseline' })).lines, [
    `a:1:1: warning: Deployment default/web: would violate ${why}`,
  ])
})

test('limits of a namespace in the input hold, and webhooks in it are not called', async () => {
  const range =
    'apiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec: {limits: [{type: Container, max: {memory: 1Mi}}]}\n'
  const hook =
    'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: h}\nwebhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1"}, rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}]\n'
  const big = POD.replace('image: b', 'image: b, resources: {limits: {memory: 2Mi}}')
  assert.deepEqual((await check([big, range, hook])).lines, [
    'a:1:1: error: pods "p" is forbidden: maximum memory usage per Container is 1Mi, but limit is 2Mi',
  ])
})

test('addresses of services are held to a range that is given', async () => {
  const service =
    'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {clusterIP: 10.97.0.1, ports: [{port: 1}]}\n'
  const { lines } = await check([service], { serviceRanges: ['10.96.0.0/24'] })
  assert.match(
    lines[0]!,
    /^a:4:8: error: Service "s" is invalid: spec.clusterIPs: .* is not in the valid range. The range of valid IPs is 10.96.0.0\/24$/,
  )
})
