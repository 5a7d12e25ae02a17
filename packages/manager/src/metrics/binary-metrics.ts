/** Metrics about the binary itself, which dashboards join with. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import { exposeFeatureGates } from '../options/feature-gates.ts'
import type { CompatibilityVersions } from '../options/go-version.ts'

interface Build {
  /** `v1.36.2` */
  readonly version: string
  readonly commit: string
  readonly platform: { readonly os: string; readonly arch: string }
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
      help: 'Always 1: which version this is, what it was built from and where it runs.',
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
      help: 'Always 1: the version of the program, the one that it behaves as, and the oldest that it gets along with.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    })
    .set(1, {
      binary: version.replace(/^v/, ''),
      component: 'kube',
      emulation: versions.emulation,
      min_compat: versions.minCompatibility,
    })
  exposeFeatureGates(metrics, gates, versions)
}
