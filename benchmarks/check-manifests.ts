// How long `gyro check` takes from its start to its end, over a hundred manifests as a chart renders them, in one file and in a hundred.
//
//   npm run benchmark -- check-manifests [--rounds 10]     budget: 0.5 s of wall on a quiet machine
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } })
const gyro = join(import.meta.dirname, '../bin/gyro')

function rendered(index: number): readonly string[] {
  const name = `web-${index}`
  const metadata = (template: string, apiVersion: string, kind: string): string =>
    `# Source: shop/templates/${template}.yaml
apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: ${name}
  namespace: shop
  labels:
    app.kubernetes.io/name: ${name}
    app.kubernetes.io/version: "1.2.3"
    helm.sh/chart: shop-0.1.0
`
  return [
    `${metadata('account', 'v1', 'ServiceAccount')}automountServiceAccountToken: false\n`,
    `${metadata('service', 'v1', 'Service')}spec:
  ports:
    - port: 80
      targetPort: http
      name: http
  selector:
    app.kubernetes.io/name: ${name}
`,
    `${metadata('config', 'v1', 'ConfigMap')}data:
  LOG_LEVEL: info
  app.yaml: |
    server:
      port: 8080
`,
    `${metadata('deployment', 'apps/v1', 'Deployment')}spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      serviceAccountName: ${name}
      containers:
        - name: app
          image: "registry.example.com/shop/${name}:1.2.3"
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop: [ALL]
          ports:
            - name: http
              containerPort: 8080
          envFrom:
            - configMapRef:
                name: ${name}
          env:
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
          resources:
            limits:
              cpu: 500m
              memory: 256Mi
          volumeMounts:
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: tmp
          emptyDir: {}
`,
  ]
}

const folder = mkdtempSync(join(tmpdir(), 'check-manifests-'))
const manifests = Array.from({ length: 25 }, (_, index) => rendered(index)).flat()
writeFileSync(join(folder, 'one.yaml'), manifests.join('---\n'))
mkdirSync(join(folder, 'many'))
for (const [index, text] of manifests.entries())
  writeFileSync(join(folder, 'many', `${index}.yaml`), text)

for (const input of ['one.yaml', 'many']) {
  const seconds: number[] = []
  for (let round = 0; round <= Number(values.rounds); round++) {
    const startedMs = performance.now()
    const { status, stderr } = spawnSync(gyro, ['check', join(folder, input)], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    // The first round makes the file that others start from.
    if (round > 0) seconds.push((performance.now() - startedMs) / 1000)
  }
  const sorted = seconds.toSorted((a, b) => a - b)
  const [least, median] = [sorted[0]!, sorted[sorted.length >> 1]!]
  console.log(
    `100 manifests in ${input}: least ${least.toFixed(2)} s, median ${median.toFixed(2)} s`,
  )
}
rmSync(folder, { recursive: true })
