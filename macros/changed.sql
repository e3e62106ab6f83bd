{#-
    A build computes all campaigns anew, or only those that changed since the last one. In the second case whoever
    starts it (changes.py) has put tables into the scratch database: `changed_campaigns`, and `changed_trials`,
    `changed_runs`, `changed_series` and `changed_kin`, those that these campaigns had before. Models of single
    campaigns, trials and runs are incremental: they forget what changed and append what the staging models then show.
    Published figures are few: they are computed in every build. Models over several campaigns whose rows fall into
    groups, a series or a kin, compute the groups in which a changed campaign is or was; all others are computed whole.
-#}

{#- The table of what changed: `campaigns`, `kin`, `runs`, `series` or `trials`; none when everything is computed. -#}
{% macro changed(what) -%}
    {%- if execute and target.type == 'duckdb' -%}
        {{ return(adapter.get_relation('scratch', 'main', 'changed_' ~ what)) }}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro %}

{#- The condition on a campaign that it is computed in this build. -#}
{% macro is_changed(campaign) -%}
    {%- if changed('campaigns') -%}
        {{ campaign }} in (select campaign from {{ changed('campaigns') }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on a trial that it is computed in this build, and not kept from the last one. -#}
{% macro is_computed(trial_id) -%}
    {%- set computed = ref('stg_current_trials') -%} {#- named whatever is computed: dbt wants to know beforehand -#}
    {%- if changed('campaigns') -%}
        {{ trial_id }} in (select trial_id from {{ computed }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on the campaign and origin of a capacity that it is computed in this build. -#}
{% macro is_changed_or_published() -%}
    {%- if changed('campaigns') -%}
        ({{ is_changed('campaign') }} or origin = 'published')
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on a kin of capacities, see int_capacity, that its pairs are computed in this build. -#}
{% macro is_changed_kin(kin_key) -%}
    {%- if changed('campaigns') -%}
        {{ kin_key }} in (
            select kin_key from {{ changed('kin') }}
            union all
            select kin_key from {{ ref('int_capacity') }}
            where {{ is_changed_or_published() }}
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on a series of runs that it is computed in this build. -#}
{% macro is_changed_series() -%}
    {%- if changed('campaigns') -%}
        series_id in (
            select series_id from {{ changed('series') }}
            union all
            select series_id from {{ ref('int_trend_points') }}
            where {{ is_changed('campaign') }}
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#-
    The condition on a configuration that its facts are gathered in this build: also when its machine was described
    anew, whose clock may have changed then.
-#}
{% macro has_changed_facts() -%}
    {%- set hosts = ref('stg_hosts') -%} {#- named whatever is computed: dbt wants to know beforehand -#}
    {%- if changed('campaigns') -%}
        (
            {{ is_changed_or_published() }}
            or coalesce(host_id in (select host_id from {{ hosts }} where {{ is_changed('campaign') }}), false)
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on a pair of configurations that the facts of either are gathered in this build. -#}
{% macro has_changed_side() -%}
    {%- set configurations = ref('configurations') -%}
    {%- set condition = has_changed_facts() -%}
    {%- if changed('campaigns') -%}
        (
            {%- for side in ['baseline', 'treatment'] %}
            {{ side }}_configuration_id in (
                select configuration_id from {{ configurations }}
                where {{ condition }}
            )
            {{- " or" if not loop.last }}
            {%- endfor %}
        )
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- Before an incremental model: remove the rows of campaigns, runs or trials that are computed anew. -#}
{% macro forget_changed(column) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        {%- if changed('campaigns') %}
        where {{ column }} in (
            select {{ column }} from {{ changed(column | replace('_id', '') ~ 's') }}
        )
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}

{#- Before an incremental model of groups: remove those of which a relation, named by its model, has no unchanged row. -#}
{% macro forget_all_but(key, model, is_changed) -%}
    {%- set groups = ref(model) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where {{ key }} not in (
            select {{ key }} from {{ groups }}
            where not {{ is_changed }}
        )
    {%- endif -%}
{%- endmacro %}

{#- Before an incremental model over capacities: remove the rows of changed campaigns and of published figures. -#}
{% macro forget_changed_or_published() -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where {{ is_changed_or_published() }}
    {%- endif -%}
{%- endmacro %}

{#- Before the model of findings: remove those about changed campaigns and published figures. -#}
{% macro forget_changed_findings() -%}
    {%- set published = ref('int_capacity__published') -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where
            {{ is_changed('campaign') }}
            or subject = 'figure'
            or configuration_id in (select configuration_id from {{ published }})
    {%- endif -%}
{%- endmacro %}

{#- Before an incremental model of series: remove those that are computed in this build. -#}
{% macro forget_changed_series() -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where {{ is_changed_series() }}
    {%- endif -%}
{%- endmacro %}

{#- The condition on a group that an incremental model has no rows of it, because it is new or was forgotten. -#}
{% macro is_missing(key) -%}
    {%- if changed('campaigns') -%}
        {{ key }} not in (select {{ key }} from {{ this }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- After a relation of which the newest batch counts: the rows from before, of batches that this build does not read. -#}
{% macro and_from_before() -%}
    {%- if is_incremental() -%}
        union all by name
        select * from {{ this }}
    {%- endif -%}
{%- endmacro %}
