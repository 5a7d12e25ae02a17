/** Metrics about the binary itself, which dashboards join with. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import { exposeFeatureGates } from '../options/feature-gates.ts'

interface Build {
  /** `v1.36.0` */
  readonly version: string
  readonly commit: string
  readonly platform: { readonly os: string; readonly arch: string }
}

/** `1.36` each. */
export interface CompatibilityVersions {
  readonly emulation: string
  readonly minCompatibility: string
}

export function registerBinaryMetrics(
  metrics: MetricsRegistry,
  { version, commit, platform }: Build,
  gates: ReadonlyMap<string, boolean>,
  versions: CompatibilityVersions,
): void {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.')
  metrics
    .gauge({
      name: 'kubernetes_build_info',
      help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      labels: [
        'build_date',
        'compiler',
        'git_commit',
        'git_tree_state',
        'git_version',
        'go_version',
        'major',
        'minor',
        'platform',
      ],
      stability: 'BETA',
    })
    .set(1, {
      build_date: '',
      compiler: '',
      git_commit: commit,
      git_tree_state: '',
      git_version: version,
      go_version: '',
      major,
      minor,
      platform: `${platform.os}/${platform.arch}`,
    })
  metrics
    .gauge({
      name: 'version_info',
      help: 'Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    })
    .set(1, {
      binary: `${major}.${minor}`,
      component: 'kube',
      emulation: versions.emulation,
      min_compat: versions.minCompatibility,
    })
  exposeFeatureGates(metrics, gates)
}
