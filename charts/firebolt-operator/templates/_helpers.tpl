{{- define "firebolt-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "firebolt-operator.fullname" -}}
{{- $name := include "firebolt-operator.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "firebolt-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "firebolt-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "firebolt-operator.managerLabels" -}}
{{ include "firebolt-operator.selectorLabels" . }}
control-plane: controller-manager
{{- end -}}

{{- define "firebolt-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "firebolt-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "firebolt-operator.annotations" -}}
{{- with .Values.extraAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "firebolt-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "firebolt-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "firebolt-operator.subject" -}}
kind: ServiceAccount
name: {{ include "firebolt-operator.serviceAccountName" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "firebolt-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s%s@%s" .repository (empty .tag | ternary "" (printf ":%v" .tag)) .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* ":8443" and "0.0.0.0:8443" both end with the port. */ -}}
{{- define "firebolt-operator.port" -}}
{{- splitList ":" . | last -}}
{{- end -}}

{{- define "firebolt-operator.metricsService" -}}
{{- include "firebolt-operator.fullname" . }}-metrics
{{- end -}}

{{- /* Where the metrics certificate is mounted, and whether there is one. */ -}}
{{- define "firebolt-operator.metricsCertificates" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure .Values.metrics.certSecretName -}}
/etc/firebolt-operator/metrics
{{- end -}}
{{- end -}}

{{- define "firebolt-operator.webhookService" -}}
{{- include "firebolt-operator.fullname" . }}-webhook
{{- end -}}

{{- /* Of the webhook certificate that the operator makes, or that cert-manager does. */ -}}
{{- define "firebolt-operator.webhookSecret" -}}
{{- include "firebolt-operator.fullname" . }}-webhook-certificate
{{- end -}}

{{- /* The Secret that the webhook certificate is mounted from, if it is one. */ -}}
{{- define "firebolt-operator.webhookMountedSecret" -}}
{{- if and .Values.webhook.enabled (not .Values.webhook.certDir) -}}
{{- if .Values.webhook.certSecretName -}}
{{ .Values.webhook.certSecretName }}
{{- else if .Values.webhook.certManager.enabled -}}
{{ include "firebolt-operator.webhookSecret" . }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Where the files of the webhook certificate are; empty where the operator makes its own. */ -}}
{{- define "firebolt-operator.webhookCertificates" -}}
{{- if .Values.webhook.certDir -}}
{{ .Values.webhook.certDir }}
{{- else if include "firebolt-operator.webhookMountedSecret" . -}}
/etc/firebolt-operator/webhook
{{- end -}}
{{- end -}}

{{- define "firebolt-operator.metricsPortName" -}}
{{- ternary "https" "http" .Values.metrics.secure -}}
{{- end -}}

{{- /* One role for the whole cluster, or one for each watched namespace; the rules are the same text. */ -}}
{{/* A definition belongs to no namespace: a Role cannot give that right. */}}
{{- define "firebolt-operator.managerRules" -}}
{{ .Files.Get "files/manager-rules.yaml" | trim }}
{{- if not .Values.watchNamespaces }}
{{ .Files.Get "files/definition-rules.yaml" | trim }}
{{- end }}
{{- end -}}

{{- define "firebolt-operator.role" -}}
{{- $root := .root -}}
{{- $name := printf "%s-%s" (include "firebolt-operator.fullname" $root) .suffix -}}
{{- $rules := .rules -}}
{{- range $namespace := default (list "") $root.Values.watchNamespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "Role" "ClusterRole" (ne $namespace "") }}
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "firebolt-operator.labels" $root | nindent 4 }}
  {{- include "firebolt-operator.annotations" $root | nindent 2 }}
rules:
{{ $rules | trim }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (ne $namespace "") }}
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "firebolt-operator.labels" $root | nindent 4 }}
  {{- include "firebolt-operator.annotations" $root | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ ternary "Role" "ClusterRole" (ne $namespace "") }}
  name: {{ $name }}
subjects:
  - {{- include "firebolt-operator.subject" $root | nindent 4 }}
{{- end }}
{{- end -}}
