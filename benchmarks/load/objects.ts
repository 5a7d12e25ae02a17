/** The objects that the load consists of: those that the API server alone is given as JSON text. */

export function configMap(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'load' } },
    data: { 'settings.yaml': 'level: info\nworkers: 4\n', mode: 'standard' },
  })
}

/** About 2 KiB as it is stored, like pods of a Deployment. */
export function pod(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'load' } },
    spec: {
      containers: [
        {
          name: 'web',
          image: 'registry.example.com/team/web:v1.24.3',
          ports: [{ name: 'http', containerPort: 8080 }],
        },
      ],
    },
  })
}

/** Its pods are started by a whole cluster. */
export function deployment(name: string, replicas: number): object {
  const labels = { app: name }
  const containers = [{ name: 'web', image: 'nginx:latest' }]
  const template = { metadata: { labels }, spec: { containers } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }
}
